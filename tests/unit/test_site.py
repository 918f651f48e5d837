"""The site is built strictly and offline, holds every page, and loads nothing from elsewhere."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
PARTS = ["Use", "Train", "Understand", "Operate", "Contribute"]
OFFLINE = """
import socket, sys
def refuse(*_): raise OSError("the site is built without a network")
socket.socket.connect = socket.getaddrinfo = refuse
from mkdocs.__main__ import cli
cli()
"""
LOADED = re.compile(r'<(?:script|img|iframe)[^>]*src="([^"]+)|<link rel="stylesheet" href="([^"]+)')
FIRST_SCREEN = 1000
"""Characters of README that its first screen shows, beside the figure."""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-c", OFFLINE, "build", "--strict", "--site-dir"]
    done = subprocess.run([*command, str(folder)], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def text_of(page: Path) -> str:
    """Give the text of the article of a page, without tags."""
    html = page.read_text()
    article = html[html.index("<article") : html.index("</article>")]
    return re.sub(r"<[^>]+>", "", article)


def names_in(nav: Any) -> list[str]:
    if isinstance(nav, str):
        return [nav]
    parts = nav.values() if isinstance(nav, dict) else nav
    return [name for part in parts for name in names_in(part)]


def nav() -> Any:
    text = (ROOT / "mkdocs.yml").read_text()
    return yaml.safe_load(text[text.index("\nnav:") :])["nav"]


def test_the_first_page_is_the_readme(site: Path) -> None:
    readme = (ROOT / "README.md").read_text()
    (title,) = re.findall(r"^# (.+)", readme)
    assert title in text_of(site / "index.html")
    assert (site / "docs/images/predicted_vs_true.png").is_file()
    assert 'href="docs/site/style.css"' in (site / "index.html").read_text()
    assert (site / "docs/site/style.css").is_file()


def test_pages_stand_in_five_parts(site: Path) -> None:
    assert [name for part in nav()[1:] for name in part] == PARTS
    pages = names_in(nav())
    assert {path.relative_to(ROOT).as_posix() for path in ROOT.glob("docs/**/*.md")} <= {*pages}
    assert {"CONTRIBUTING.md", "CODE_OF_CONDUCT.md", "docs/glossary.md"} <= {*pages}
    built = [name.replace("README.md", "index.md").replace(".md", ".html") for name in pages]
    assert [name for name in built if not (site / name).is_file()] == []


def test_a_first_reader_finds_what_to_do_when_chains_do_not_converge(site: Path) -> None:
    """On the first screen of README and in the navigation of every page."""
    first_screen = (ROOT / "README.md").read_text()[:FIRST_SCREEN]
    assert re.search(r"onverge\?\]\(docs/not_converged\.md\)", first_screen)
    page = (site / "docs/glossary.html").read_text()
    assert re.search(
        r'href="not_converged.html"[^<]*(<[^/][^<]*)*When chains do not converge', page
    )
    assert "What to do when chains do not converge" in text_of(site / "docs/not_converged.html")


def test_the_reference_shows_what_users_import(site: Path) -> None:
    import nlobayes

    found = text_of(site / "docs/python.html")
    assert [name for name in nlobayes.BY_SHORT_NAME if f"nlobayes.{name}" not in found] == []
    assert "If a column is missing" in found, "errors of Surrogate.predict"
    assert "Units of each hidden layer" in found, "parameters of the estimators"


def test_notebooks_are_pages_and_links_lead_to_them(site: Path) -> None:
    notebooks = [path.stem for path in ROOT.glob("notebooks/*.py")]
    assert len(notebooks) == 3
    for name in notebooks:
        assert "nlobayes" in text_of(site / f"notebooks/{name}.html")
    assert 'href="../notebooks/own_table.html"' in (site / "docs/not_converged.html").read_text()
    assert 'href="scan.html"' in (site / "notebooks/prospino.html").read_text()


def test_nothing_is_loaded_from_elsewhere(site: Path) -> None:
    loaded = {
        (page.name, name)
        for page in site.rglob("*.html")
        for found in LOADED.findall(page.read_text())
        for name in found
        if name
    }
    assert len({name for _, name in loaded}) > 3
    assert [each for each in loaded if re.match(r"(https?:)?//", each[1])] == []


def test_no_markup_is_left_in_a_page(site: Path) -> None:
    """A list that begins within a paragraph, a fence or a table that was not read."""
    left = re.compile(r"<p>(?:(?!</p>|<pre).)*\n(?:- |\| |```)", re.DOTALL)
    guilty = [page.name for page in site.rglob("*.html") if left.search(page.read_text())]
    assert guilty == []


def test_a_broken_link_ends_the_build(tmp_path: Path) -> None:
    """In a copy with one page, whose link leads nowhere; `--quiet` would lose the warning."""
    (tmp_path / "docs/site").mkdir(parents=True)
    (tmp_path / "README.md").write_text("# One\n\n[nowhere](docs/nothing.md)\n")
    hook = (ROOT / "docs/site/repository.py").read_text()
    (tmp_path / "docs/site/repository.py").write_text(hook)
    text = re.sub("^watch:.*\n", "", (ROOT / "mkdocs.yml").read_text(), flags=re.MULTILINE)
    (tmp_path / "mkdocs.yml").write_text(text[: text.index("\nnav:")])
    command = [sys.executable, "-m", "mkdocs", "build", "--strict"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode != 0
    assert "docs/nothing.md" in done.stderr


def test_forms_of_issues_ask_for_what_helps() -> None:
    folder = ROOT / ".github/ISSUE_TEMPLATE"
    forms = {path.stem: yaml.safe_load(path.read_text()) for path in folder.glob("*.yml")}
    assert {*forms} == {"config", "fault", "idea", "not_converged"}
    for name in {*forms} - {"config"}:
        assert {"name", "description", "body"} <= {*forms[name]}
        asked = [each for each in forms[name]["body"] if each["type"] != "markdown"]
        assert all(each["attributes"]["label"] and each["id"] for each in asked)
    assert "docs/not_converged.md" in forms["not_converged"]["description"]
