"""CONTRIBUTING.md: its examples are in the style of the house, and what it names exists."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from nlobayes.cli import COMMANDS
from nlobayes.study.study import load_study, override, read_presets
from tests.unit.worked_examples import PAGE, ROOT, files_of, headings, write

EXAMPLES = ["Add a kernel", "Add a prior", "Add a score", "Add a figure", "Add a study"]
NEW = {path for heading in EXAMPLES for path in files_of(heading)}


def test_every_example_shows_files() -> None:
    assert headings() == EXAMPLES
    assert [len(files_of(heading)) for heading in EXAMPLES] == [1, 2, 2, 3, 1]
    shown = re.findall(r"^```(?:python|diff|rst|yaml)$", PAGE, re.MULTILINE)
    assert len(shown) == len(NEW)


@pytest.mark.parametrize("asked", [["check"], ["format", "--diff"]], ids=" ".join)
def test_code_is_in_the_style_of_the_house(tmp_path: Path, asked: list[str]) -> None:
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    for heading in EXAMPLES:
        write(files_of(heading), tmp_path)
    ours = 'lint.isort.known-first-party = ["nlobayes", "tests"]'
    command = [sys.executable, "-m", "ruff", *asked, "--no-cache", "--config", ours, "."]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_study_can_be_planned() -> None:
    ((path, text),) = files_of("Add a study").items()
    presets = read_presets(ROOT / "config/presets")
    base = override(presets, yaml.safe_load((ROOT / "config/config.yaml").read_text()))
    study = load_study(override(base, yaml.safe_load(text)))
    assert study.targets == (Path(path).stem,)
    assert len([*study.runs(Path(path).stem)]) == 4
    assert not {*study.grids} & {*COMMANDS, "all"}
    assert text.startswith("#"), "the first lines say what it asks"


def test_what_the_page_names_exists() -> None:
    links = re.findall(r"\]\(([^):#]+)", PAGE)
    tests = re.findall(r"tests/[\w/]+\.py", PAGE)
    assert len(links) > 8
    assert len(tests) > 8
    assert [path for path in [*links, *tests] if not (ROOT / path).exists()] == []
    targets = re.findall(r"(?:^|`)make ([a-z-]+)", PAGE, re.MULTILINE)
    assert {"setup", "test", "test-nightly", "check", "schema"} <= {*targets}
    makefile = (ROOT / "Makefile").read_text()
    assert [name for name in targets if f"\n{name}: " not in makefile] == []
