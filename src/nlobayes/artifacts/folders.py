"""Atomic folders: a folder under its name is complete, or it does not exist."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from nlobayes.artifacts import temporaries
from nlobayes.artifacts.files import not_written, write_text
from nlobayes.errors import InputError


def write_folder(path: Path, copies: Mapping[str, Path], texts: Mapping[str, str]) -> None:
    """Make a folder of copies of files and of text files, both by their names in the folder.

    Raises
    ------
    InputError
        If `path` exists or cannot be written; then no temporary folder remains.
    """
    if path.exists() or path.is_symlink():
        raise InputError("artifacts.folder_exists", path=path)
    temporary = temporaries.name_beside(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporaries.remove_left_behind(path)
        temporary.mkdir()
        for name, source in copies.items():
            _copy(source, temporary / name)
        for name, text in texts.items():
            write_text(temporary / name, text)
        os.rename(temporary, path)
    except OSError as error:
        raise not_written(path, error) from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _copy(source: Path, target: Path) -> None:
    with source.open("rb") as read, target.open("xb") as written:
        shutil.copyfileobj(read, written)
        written.flush()
        os.fsync(written.fileno())
