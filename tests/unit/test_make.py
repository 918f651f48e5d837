"""`make setup` finds a supported Python, on PATH, by pyenv or by uv, or says what is missing."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.installed import ROOT, uv

UV = """#!/bin/sh
case "$1 $2" in
  "python list") {listing} ;;
  "python install") exit 1 ;;
  *) echo "$*" >> calls ;;
esac
"""
"""A uv that lists Pythons, cannot download one, and notes all other calls."""
MISSING = "nlobayes: error: needs Python >=3.12,<3.15, found none and cannot download it; install"
READY = ">=3.12,<3.14"
SHIM = "#!/bin/sh\necho 'pyenv: command not found' >&2\nexit 127\n"


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What `make setup` reads of a checkout, where PATH has no Python."""
    for name in ("Makefile", "pyproject.toml", ".ci/uv.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    (tmp_path / "bin").mkdir()
    for name in ("make", "sed", "awk", "grep"):
        (tmp_path / "bin" / name).symlink_to(str(shutil.which(name)))
    for name in ("UV_PYTHON", "VIRTUAL_ENV", "MAKEFLAGS", "MAKELEVEL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path / "pyenv"))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    return tmp_path


def program(path: Path, text: str) -> None:
    path.write_text(text)
    path.chmod(0o755)


def setup(checkout: Path, listing: str) -> tuple[list[str], str]:
    """Call `make setup` with a uv that lists Pythons by a command; its other calls, and errors."""
    program(checkout / "bin/uv", UV.format(listing=listing))
    (checkout / "calls").write_text("")
    done = subprocess.run(["make", "setup"], cwd=checkout, capture_output=True, text=True)
    return (checkout / "calls").read_text().splitlines(), done.stderr


@pytest.mark.parametrize(
    ("installed", "taken"), [("3.14 3.13 3.12", "3.13"), ("3.14 3.12", "3.12"), ("3.14", "3.14")]
)
def test_the_newest_is_taken_that_needs_no_compiler(
    checkout: Path, installed: str, taken: str
) -> None:
    """A package of Snakemake has no compiled file for Python 3.14."""
    listing = (
        f'for each in {installed}; do case "$4 $each" in "{READY} 3.14") ;; '
        '*) echo "cpython-$each.1 /opt/$each/python" ;; esac; done'
    )
    (made, synced, _), _ = setup(checkout, listing)
    assert made == f"venv --quiet --clear --python /opt/{taken}/python"
    assert synced.startswith("sync --quiet --locked")


def test_a_chosen_python_is_taken(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UV_PYTHON", "3.12")
    (made, *_), _ = setup(checkout, "echo cpython-3.14.1 /opt/3.14/python")
    assert made == "venv --quiet --clear --python 3.12"


@pytest.mark.parametrize(
    ("version", "kept"), [("3.12.1", True), ("3.14.0", True), ("3.11.7", False)]
)
def test_an_environment_of_a_supported_python_is_kept(
    checkout: Path, version: str, kept: bool
) -> None:
    (checkout / ".venv").mkdir()
    (checkout / ".venv/pyvenv.cfg").write_text(f"home = /opt\nversion_info = {version}\n")
    calls, _ = setup(checkout, "echo cpython-3.14.1 /opt/3.14/python")
    assert any(call.startswith("venv ") for call in calls) == (not kept)


def test_without_a_python_one_line_names_the_remedy(checkout: Path) -> None:
    calls, said = setup(checkout, "exit 1")
    first, *others = said.splitlines()
    assert calls == []
    assert first.startswith(MISSING)
    assert all(line.startswith("make: ") for line in others)


def test_a_python_of_pyenv_is_found_behind_a_shim_that_fails(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the real uv, which has none of its own; pyenv puts only the shim on PATH."""
    monkeypatch.setenv("UV_PYTHON_INSTALL_DIR", str(checkout / "none"))
    name = "python{}.{}".format(*sys.version_info)
    program(checkout / "bin" / name, SHIM)
    version = checkout / "pyenv/versions" / ".".join(map(str, sys.version_info[:3]))
    version.mkdir(parents=True)
    (version / "bin").symlink_to(Path(sys.base_prefix) / "bin")
    (made, *_), said = setup(checkout, f'exec {uv()} "$@"')
    assert made.startswith("venv --quiet --clear --python "), said
    assert os.path.samefile(checkout / made.split()[-1], version / "bin" / name)
