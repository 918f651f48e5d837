"""The place of a file: its path from the root of the project, as records and artifacts name it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

RESULTS = "results"

_PROJECT: ContextVar[Path | None] = ContextVar("_PROJECT", default=None)


@contextmanager
def project(root: Path) -> Iterator[None]:
    """Name the files below a folder by their paths from there, as if it were the project."""
    token = _PROJECT.set(root)
    try:
        yield
    finally:
        _PROJECT.reset(token)


def name_of(path: Path, root: Path | None = None) -> str:
    """Name a file by its path from the root (default: here), or by its full path elsewhere."""
    path, here = path.absolute(), Path.cwd()
    roots = [root.absolute()] if root else filter(None, (_PROJECT.get(), here))
    inside = next(filter(path.is_relative_to, roots), None)
    return (path.relative_to(inside) if inside else path).as_posix()


def is_result(name: str) -> bool:
    """Return whether a name is that of a file below `results/`."""
    return name.startswith(f"{RESULTS}/")


def stated_place(path: Path) -> dict[str, str]:
    """Give the fact that states the place of a result; none for files elsewhere.

    The path of a result names its run, and of chains their chain group and segment.
    """
    name = name_of(path)
    return {"place": name} if is_result(name) else {}


def remedy(path: Path) -> str:
    """State the remedy for a file that has changed: only a result may be deleted."""
    if RESULTS not in path.absolute().parts[:-1]:
        return "check the path, or get the file anew from where it came"
    name = name_of(path)
    return (
        f"restore it with `dvc checkout --force {name}`, or delete it and call `snakemake {name}`"
    )
