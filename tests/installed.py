"""What an install brings: packages by uv.lock, and a Python that finds nothing else."""

import json
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import Any

import pytest
from packaging.markers import Marker, default_environment

ROOT = Path(__file__).parents[1]
OURS = "nlobayes"
UNREACHABLE = ("Failed to fetch", "network was disabled")
ABSENT = """
import json, sys

class Absent:
    "Finds no module of packages that are not installed."
    names = frozenset(json.loads(sys.argv.pop(1)))
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in self.names:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Absent())
"""


def brought(extra: str | None = None, python: str = "3.13") -> set[str]:
    """Name the packages that our package is installed with on Linux, itself included."""
    told = {"python_version": python, "python_full_version": f"{python}.0"}
    machine = {"sys_platform": "linux", "platform_system": "Linux", "os_name": "posix"}
    return _closure(extra, tuple({**told, **machine}.items()))


@cache
def _closure(extra: str | None, told: tuple[tuple[str, str], ...]) -> set[str]:
    environment: dict[str, Any] = {**default_environment(), **dict(told)}
    waiting = [(OURS, None), *([(OURS, extra)] if extra else [])]
    seen: set[tuple[str, str | None]] = set()
    while waiting:
        asked = waiting.pop()
        if asked in seen:
            continue
        seen.add(asked)
        for needed in _needs(*asked):
            if "marker" not in needed or Marker(needed["marker"]).evaluate(environment):
                waiting += [(needed["name"], each) for each in (None, *needed.get("extra", ()))]
    return {name for name, _ in seen}


def _needs(name: str, extra: str | None) -> list[Mapping[str, Any]]:
    """List what every locked version of a package needs, or an extra of it."""
    lists = [
        package.get("dependencies", [])
        if extra is None
        else package.get("optional-dependencies", {}).get(extra, [])
        for package in _lock()
        if package["name"] == name
    ]
    return [needed for each in lists for needed in each]


@cache
def _lock() -> list[dict[str, Any]]:
    locked: list[dict[str, Any]] = tomllib.loads((ROOT / "uv.lock").read_text())["package"]
    return locked


@cache
def packages_of_modules() -> dict[str, set[str]]:
    """Name the packages behind each module that can be imported here."""
    found = packages_distributions().items()
    return {module: {normalised(each) for each in names} for module, names in found}


def normalised(package: str) -> str:
    """Write the name of a package as indices do."""
    return re.sub(r"[-_.]+", "-", package).lower()


def run_without_extras(program: str, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a program of Python where only what the base install brings can be imported."""
    base = brought()
    absent = sorted(name for name, of in packages_of_modules().items() if not of & base)
    return subprocess.run(
        [sys.executable, "-c", ABSENT + program, json.dumps(absent), *words],
        capture_output=True,
        text=True,
        check=False,
    )


def uv() -> str:
    """Give the path of uv; without it the test is skipped."""
    own = sorted(ROOT.glob(".uv/*/bin/uv"))
    found = shutil.which("uv") or (str(own[-1]) if own else None)
    if found is None:
        pytest.skip("uv is not there: `make setup` installs it")
    return found


def call(*words: str, cwd: Path) -> str:
    """Call a program; a test that cannot reach an index is skipped."""
    done = subprocess.run(words, cwd=cwd, capture_output=True, text=True, check=False)
    lines = done.stderr.splitlines()
    unreached = [line for line in lines if any(sign in line for sign in UNREACHABLE)]
    if done.returncode and unreached:
        pytest.skip(f"no package index answers: {unreached[0].strip()}")
    assert done.returncode == 0, done.stderr
    return done.stdout
