"""The place of a file: its path from the root of the project, as records and artifacts store it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from nlobayes.errors import InputError

RESULTS = "results"

_PROJECT: ContextVar[Path | None] = ContextVar("_PROJECT", default=None)


@contextmanager
def project(root: Path) -> Iterator[None]:
    """Use a folder as the root of the project: `name_of` names its files by their paths from it."""
    token = _PROJECT.set(root)
    try:
        yield
    finally:
        _PROJECT.reset(token)


def name_of(path: Path, root: Path | None = None) -> str:
    """Name a file by its path from the root, or by its full path if it is outside.

    The default root is that of `project`, and otherwise the current folder.
    """
    path, here = path.absolute(), Path.cwd()
    roots = [root.absolute()] if root else filter(None, (_PROJECT.get(), here))
    inside = next(filter(path.is_relative_to, roots), None)
    return (path.relative_to(inside) if inside else path).as_posix()


def is_result(name: str) -> bool:
    """Return whether a name belongs to a file below `results/`."""
    return name.startswith(f"{RESULTS}/")


def stated_place(path: Path) -> dict[str, str]:
    """Return the entry `place` of a result; nothing for files outside `results/`.

    The path of a result names its run, and for chains also the chain group and segment.
    """
    name = name_of(path)
    return {"place": name} if is_result(name) else {}


def remedy(path: Path) -> str:
    """Describe the remedy for a changed file: deletion is advised for results only."""
    if RESULTS not in path.absolute().parts[:-1]:
        return "check the path, or get the file again from its source"
    name = name_of(path)
    return (
        f"restore it with `dvc checkout --force {name}`, or delete it and call `snakemake {name}`"
    )


def damaged(code: str, path: Path, **fields: Any) -> InputError:
    """Return the error for a file that is not what was written, with its place and remedy."""
    return InputError(code, where=path, remedy=remedy(path), **fields)
