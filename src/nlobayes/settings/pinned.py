"""Files that a preset names: inside the project, hashed at planning, and checked by every job."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from nlobayes.errors import InputError


def check_place(file: str, suffix: str) -> str:
    """Refuse a file outside the project, or with another suffix."""
    path = Path(file)
    if path.suffix != suffix or path.is_absolute() or ".." in path.parts:
        raise InputError("study.file_outside", file=file, suffix=suffix)
    return file


def pin(value: Any, *, needed: bool = True) -> Any:
    """Compute `sha256` of the `file` of a preset, or check it if it is given.

    If the file is not `needed` yet and does not exist, `sha256` stays empty.
    """
    if not isinstance(value, dict) or not isinstance(value.get("file"), str):
        return value
    path, given = Path(value["file"]), value.get("sha256")
    if not path.is_file():
        if needed or given:
            raise InputError("study.no_file", file=value["file"])
        return value
    found = hashlib.sha256(path.read_bytes()).hexdigest()
    if given and given != found:
        raise InputError("study.file_changed", file=value["file"], found=found, planned=given)
    return {**value, "sha256": found}
