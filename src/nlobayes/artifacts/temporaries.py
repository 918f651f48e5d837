"""Temporary files, each beside its final file and named after it and the writing process.

The name distinguishes a file left by a killed writer from one that is being written.
"""

from __future__ import annotations

import os
import platform
import re
import secrets
import shutil
from functools import cache
from hashlib import sha256
from pathlib import Path

FORM = re.compile(r"\.(?P<name>.+)\.(?P<machine>[0-9a-f]{8})-(?P<process>\d{1,9})-[0-9a-f]{8}")


def create(path: Path) -> Path:
    """Create an empty temporary file beside `path`, with the mode that the umask gives.

    Raises OSError if the folder cannot be written or is full.
    """
    temporary = name_beside(path)
    os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
    return temporary


def name_beside(path: Path) -> Path:
    """Name a temporary file or folder for `path`."""
    return path.with_name(f".{path.name}.{_machine()}-{os.getpid()}-{secrets.token_hex(4)}")


def is_left_behind(path: Path) -> bool:
    """Return whether the process that wrote this file ran on this machine and has ended."""
    match = FORM.fullmatch(path.name)
    return (
        match is not None
        and match["machine"] == _machine()
        and not _is_alive(int(match["process"]))
    )


def remove_left_behind(path: Path) -> None:
    """Delete the temporary files that killed writers of a file or folder left beside it."""
    for other in path.parent.iterdir():
        match = FORM.fullmatch(other.name)
        if match and match["name"] == path.name and is_left_behind(other):
            if other.is_dir():
                shutil.rmtree(other, ignore_errors=True)
            else:
                other.unlink(missing_ok=True)


@cache
def _machine() -> str:
    """Return an identifier of this machine that does not reveal its name."""
    return sha256(platform.node().encode()).hexdigest()[:8]


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return not _has_ended(process)


def _has_ended(process: int) -> bool:
    """Return whether a process has ended and its parent has not read its status."""
    try:
        state = Path(f"/proc/{process}/stat").read_bytes().rpartition(b")")[2].split()[0]
    except (OSError, IndexError):
        return False
    return state in (b"Z", b"X")
