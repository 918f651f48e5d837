"""Digests and seals: a sealed file ends with the SHA-256 of all bytes before the seal.

The seal reveals any change. NetCDF readers ignore bytes after the end of the data, so they can open
a sealed file.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from io import BufferedReader
from pathlib import Path

from nlobayes.artifacts.places import name_of, remedy
from nlobayes.errors import InputError

MARK = b"\nnlobayes-sha256:"
LENGTH = len(MARK) + 64 + 1
CHUNK = 1 << 20
SIGNATURE = b"\x89HDF\r\n\x1a\n"
"""First bytes of an HDF5 file, and so of every artifact."""


def digest(path: Path) -> str:
    """Compute the SHA-256 of a file, as `sha256sum` does.

    Raises
    ------
    InputError
        If the file cannot be read.
    """
    try:
        with _open(path) as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise InputError(
            "artifacts.unreadable", path=path, reason=error.strerror or str(error)
        ) from error


def digests(paths: Iterable[Path]) -> dict[str, str]:
    """Compute the SHA-256 of each file, by the name that `places.name_of` gives it."""
    return {name_of(path): digest(path) for path in paths}


def seal(path: Path) -> None:
    """Append the SHA-256 of a file to it."""
    content = digest(path)
    with path.open("ab") as file:
        file.write(MARK + content.encode() + b"\n")


def check_seal(path: Path, what: str = "artifact") -> None:
    """Check that no byte of a file has changed since it was sealed.

    Parameters
    ----------
    what
        Expected kind of the file, for the error message.

    Raises
    ------
    InputError
        If the file cannot be read, its end is missing, or a byte has changed.
    """
    try:
        begin, content, end = _read(path)
    except OSError as error:
        raise InputError(
            "artifacts.unreadable_artifact", path=path, reason=error.strerror or str(error)
        ) from error
    sealed = end.startswith(MARK)
    if not sealed and not begin.startswith(SIGNATURE):
        raise InputError("artifacts.no_artifact", where=path, what=what, remedy=remedy(path))
    if not sealed:
        raise InputError("artifacts.no_seal", where=path, remedy=remedy(path))
    if end != MARK + content.encode() + b"\n":
        raise InputError("artifacts.changed_bytes", where=path, remedy=remedy(path))


def _read(path: Path) -> tuple[bytes, str, bytes]:
    """Return the first bytes of a file, the digest of all bytes before the seal, and the seal."""
    hasher, left = hashlib.sha256(), max(path.stat().st_size - LENGTH, 0)
    with _open(path) as file:
        begin = file.peek(len(SIGNATURE))[: len(SIGNATURE)]
        while left and (chunk := file.read(min(CHUNK, left))):
            hasher.update(chunk)
            left -= len(chunk)
        return begin, hasher.hexdigest(), file.read()


def _open(path: Path) -> BufferedReader:
    """Open a regular file; refuse others, such as pipes, whose reading would block."""
    if path.exists() and not path.is_file():
        raise OSError("it is no file")
    return path.open("rb")
