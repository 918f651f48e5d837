"""Where an artifact comes from: the code of its verb, the versions around it, the precision."""

from __future__ import annotations

import ast
import hashlib
import platform
from collections.abc import Mapping
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

PACKAGE = Path(__file__).parent
PACKAGES = (
    *("nlobayes", "numpy", "scipy", "pymc", "pytensor", "jax", "blackjax", "optax", "arviz"),
    *("xarray", "netCDF4", "pyarrow"),
)
DATA_FILES = {".mplstyle"}
"""Endings of the files that code reads from its own folder."""

STATED_IN_SPEC = "nlobayes.study"
"""What configuration does is in the specification of each job, so its code is not digested."""


@cache
def code_digest(verb: str) -> str:
    """Digest the source of a verb, of all of ours that it imports, and the data files beside it."""
    sources = {_source(module) for module in import_closure(f"nlobayes.verbs.{verb}")}
    digest = hashlib.sha256()
    for path in sorted(sources.union(*map(_data_beside, sources))):
        digest.update(path.relative_to(PACKAGE).as_posix().encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def import_closure(module: str) -> set[str]:
    """Find the modules of ours that a module imports, itself included, without importing any."""
    found: set[str] = set()
    waiting = [module]
    while waiting:
        name = waiting.pop()
        if name not in found and not name.startswith(STATED_IN_SPEC):
            found.add(name)
            waiting += filter(_is_ours, _imports(_source(name).read_bytes()))
    return found


def record(verb: str, spec: Any, inputs: Mapping[str, str], **facts: Any) -> dict[str, Any]:
    """Describe the making of an artifact: a function of its inputs, without dates or hosts.

    `inputs` holds the SHA-256 of each file that was read, by its path.
    """
    return {
        "verb": verb,
        "code_digest": code_digest(verb),
        "lock_digest": lock_digest(),
        "spec": spec,
        "inputs": dict(inputs),
        "versions": versions(),
        **facts,
    }


@cache
def lock_digest() -> str | None:
    """Give the SHA-256 of the lock file beside the source; None for an installed package."""
    lock = PACKAGE.parents[1] / "uv.lock"
    return hashlib.sha256(lock.read_bytes()).hexdigest() if lock.is_file() else None


@cache
def versions() -> dict[str, str]:
    """Give the versions of Python and of the packages that numbers depend on."""
    return {"python": platform.python_version()} | {n: metadata.version(n) for n in PACKAGES}


@cache
def _imports(source: bytes) -> list[str]:
    names: list[str] = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
    return names


def _data_beside(source: Path) -> set[Path]:
    return {path for path in source.parent.iterdir() if path.suffix in DATA_FILES}


def _is_ours(name: str) -> bool:
    return name.split(".")[0] == "nlobayes" and _source(name).exists()


def _source(name: str) -> Path:
    path = PACKAGE.joinpath(*name.split(".")[1:])
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
