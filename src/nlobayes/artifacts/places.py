"""Where a file stands: its path from the root of the project, as records and artifacts name it."""

from __future__ import annotations

from pathlib import Path

RESULTS = "results"


def name_of(path: Path, root: Path | None = None) -> str:
    """Name a file by its path from the root, which is here unless told; elsewhere by all of it."""
    path, root = path.absolute(), (root or Path()).absolute()
    return (path.relative_to(root) if path.is_relative_to(root) else path).as_posix()


def is_result(name: str) -> bool:
    """Tell whether a name is that of a file below `results/`."""
    return name.startswith(f"{RESULTS}/")


def stated_place(path: Path) -> dict[str, str]:
    """Give the fact by which a result says where it stands; none for files elsewhere.

    The path of a result names its run, and of chains their chain group and segment.
    """
    name = name_of(path)
    return {"place": name} if is_result(name) else {}


def remedy(path: Path) -> str:
    """Say what to do about a file that is not what was written: only a result may be deleted."""
    if RESULTS not in path.absolute().parts[:-1]:
        return "check the path, or get the file anew from where it came"
    name = name_of(path)
    return (
        f"restore it with `dvc checkout --force {name}`, or delete it and call `snakemake {name}`"
    )
