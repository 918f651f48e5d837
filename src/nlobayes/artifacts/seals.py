"""Digests and seals: a sealed file ends with the SHA-256 of all bytes before the seal.

The seal reveals any change. NetCDF readers ignore bytes after the end of the data, so they can open
a sealed file.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from io import BufferedReader
from pathlib import Path
from typing import Protocol

from nlobayes.artifacts.places import damaged, name_of
from nlobayes.errors import InputError

MARK = b"\nnlobayes-sha256:"
LENGTH = len(MARK) + 64 + 1
CHUNK = 1 << 20
SIGNATURE = b"\x89HDF\r\n\x1a\n"
"""First bytes of an HDF5 file, and so of every artifact."""


class OpenFile(Protocol):
    """A file that was read, such as `netcdf.Artifact`."""

    @property
    def path(self) -> Path:
        """Its path."""

    @property
    def sha256(self) -> str:
        """SHA-256 of the bytes that were read."""


def digest(path: Path) -> str:
    """Compute the SHA-256 of a file, as `sha256sum` does.

    Raises InputError if the file cannot be read.
    """
    try:
        with _open(path) as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError("artifacts.unreadable", path=path, reason=reason) from error


def digests(files: Iterable[Path | OpenFile]) -> dict[str, str]:
    """Return the SHA-256 of each file, by the name that `places.name_of` gives it.

    That of an artifact, which was read, is known; other files are read now.
    """
    known = ((f, digest(f)) if isinstance(f, Path) else (f.path, f.sha256) for f in files)
    return {name_of(path): sha256 for path, sha256 in known}


def seal(path: Path) -> None:
    """Append the SHA-256 of a file to it."""
    content = digest(path)
    with path.open("ab") as file:
        file.write(MARK + content.encode() + b"\n")


def check_seal(path: Path, what: str = "artifact") -> str:
    """Check that no byte of a file has changed since it was sealed, and return its SHA-256.

    Raises InputError if the file cannot be read, its end is missing, or a byte has changed.

    Parameters
    ----------
    what
        Expected kind of the file, for the error message.
    """
    try:
        hasher, left = hashlib.sha256(), max(path.stat().st_size - LENGTH, 0)
        with _open(path) as file:
            begin = file.peek(len(SIGNATURE))[: len(SIGNATURE)]
            while left and (chunk := file.read(min(CHUNK, left))):
                hasher.update(chunk)
                left -= len(chunk)
            content, end = hasher.hexdigest(), file.read()
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError("artifacts.unreadable_artifact", path=path, reason=reason) from error
    sealed = end.startswith(MARK)
    if not sealed and begin != SIGNATURE:
        raise damaged("artifacts.no_artifact", path, what=what)
    if not sealed:
        raise damaged("artifacts.no_seal", path)
    if end != MARK + content.encode() + b"\n":
        raise damaged("artifacts.changed_bytes", path)
    hasher.update(end)
    return hasher.hexdigest()


def _open(path: Path) -> BufferedReader:
    """Open a regular file; refuse others, such as pipes, whose reading would block."""
    if path.exists() and not path.is_file():
        raise OSError("it is no file")
    return path.open("rb")
