"""Temporary files: beside the file that each becomes, named after it and the process that writes.

This distinguishes a file left by a killed writer from one that is being written.
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
    """Create an empty file beside another, of the mode that the umask gives.

    Raises
    ------
    OSError
        If the folder cannot be written or is full.
    """
    temporary = name_beside(path)
    os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
    return temporary


def name_beside(path: Path) -> Path:
    """Name what will become a file or a folder."""
    return path.with_name(f".{path.name}.{_machine()}-{os.getpid()}-{secrets.token_hex(4)}")


def is_left_behind(path: Path) -> bool:
    """Return whether a process of this machine that has ended wrote this file."""
    named = FORM.fullmatch(path.name)
    return (
        named is not None
        and named["machine"] == _machine()
        and not _is_alive(int(named["process"]))
    )


def remove_left_behind(path: Path) -> None:
    """Remove what killed writers of a file or a folder left beside it."""
    for other in path.parent.iterdir():
        named = FORM.fullmatch(other.name)
        if named and named["name"] == path.name and is_left_behind(other):
            if other.is_dir():
                shutil.rmtree(other, ignore_errors=True)
            else:
                other.unlink(missing_ok=True)


@cache
def _machine() -> str:
    """Give an identifier of this machine that does not reveal its name."""
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
