"""The site is built strictly and offline, holds every page, and loads nothing from elsewhere."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.browser import Browser

ROOT = Path(__file__).parents[2]
PAGES = [
    path.relative_to(ROOT).with_suffix(".html").as_posix().replace("README", "index")
    for path in sorted((*ROOT.glob("docs/**/*.md"), *ROOT.glob("notebooks/[!R]*.py")))
]
OFFLINE = """
import socket, sys
def refuse(*_): raise OSError("the site is built without a network")
socket.socket.connect = socket.getaddrinfo = refuse
from mkdocs.__main__ import cli
cli()
"""
LOADED = re.compile(
    r'<(?:script|img|iframe)[^>]*src="?([^"> ]+)|<link rel="stylesheet" href="([^"]+)'
)
READY = "document.readyState === 'complete'"
FITS = "document.documentElement.scrollWidth <= document.documentElement.clientWidth"
UNSET = "document.querySelectorAll('.arithmatex:not(:has(.katex))').length"
FOUND = "document.querySelectorAll('.md-search-result__item').length"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, as `make docs` writes it."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-c", OFFLINE, "build", "--strict", "--site-dir", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def test_the_site_is_whole_and_loads_nothing_from_elsewhere(site: Path) -> None:
    pages = {path.relative_to(site).as_posix(): path for path in site.rglob("*.html")}
    assert pages.keys() >= set(PAGES)
    assert "onverge?" in pages["index.html"].read_text(), "of README"
    assert "If a column is missing" in pages["docs/python.html"].read_text(), "of docstrings"
    text = "".join(path.read_text() for path in pages.values())
    loaded = {name for found in LOADED.findall(text) for name in found if name}
    assert len(loaded) > 3
    assert [name for name in loaded if re.match(r"(https?:)?//", name)] == []


def test_a_number_keeps_its_exponent_and_percent_sign_on_its_line(site: Path) -> None:
    """Code, formulas and the attributes of tags stay as they are."""
    text = "".join((site / page).read_text() for page in [*PAGES, "index.html"])
    code = r"<(pre|code)\b.*?</\1>|<(?:span|div) class=\"arithmatex\">.*?</(?:span|div)>"
    assert not re.search(r"<[^>]*<span style", text)
    assert not [found for found in re.finditer(code, text, re.DOTALL) if "white-space" in found[0]]
    shown = re.sub(code + r'|<span style="white-space: nowrap">[^<]*</span>', "", text, flags=re.S)
    shown = re.sub(r"<(script|title)\b.*?</\1>|<[^>]*>", "", shown, flags=re.DOTALL)
    assert re.findall(r"\d %|\de-\d", shown) == []
    assert "\u00a0%" in shown


@pytest.mark.by_day(8)
@pytest.mark.parametrize("page", [*PAGES, "index.html"])
def test_a_page_fits_a_laptop_and_a_phone_and_sets_its_formulas(
    page: str, site: Path, browser: Browser
) -> None:
    browser.open((site / page).as_uri())
    browser.wait_for(READY)
    assert browser.complaints == []
    assert browser.value(UNSET) == 0
    for width in (1280, 390):
        size = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": False}
        browser.command("Emulation.setDeviceMetricsOverride", **size)
        browser.wait_for(FITS)


def test_search_needs_no_server(site: Path, browser: Browser) -> None:
    browser.open((site / "docs/statistics.html").as_uri() + "?q=conformal")
    browser.wait_for(f"{FOUND} > 3")
