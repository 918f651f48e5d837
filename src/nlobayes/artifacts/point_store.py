"""The store of points: what a program answered, a small file a point, never computed twice.

A point is claimed before it is computed: an empty file is made at its final path and locked. The
result takes the place of this file by a rename. A killed process leaves an empty file without a
lock, which the next one claims. Processes that waited for the lock read what is at the path then,
instead of computing. Files hold no dates and no durations.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from nlobayes.artifacts.files import not_written, read_json, write_json
from nlobayes.errors import InputError
from nlobayes.untyped import Document, Facts

SEAL = "sha256"


def stored_or_made(
    path: Path, suffices: Callable[[Document], bool], make: Callable[[Document | None], Facts]
) -> Document:
    """Read what is stored of a point, or make it and store it.

    Processes and threads that call this for one path at a time make it once, where the file system
    has locks.

    Raises InputError if the file cannot be written.

    Parameters
    ----------
    path
        File of the point.
    suffices
        Whether stored facts are final.
    make
        Returns the facts to store, given those that do not suffice, or None. Its errors pass, and
        then nothing is stored.
    """
    found = read_point(path)
    if found is not None and suffices(found):
        return found
    with _claimed(path):
        found = read_point(path)
        if found is None or not suffices(found):
            found = {**make(found)}
            write_json(path, found | {SEAL: _seal(found)})
    return found


def read_point(path: Path) -> Document | None:
    """Read the facts of a point; None if it is absent, only claimed, or damaged."""
    try:
        found = read_json(path, SEAL)
    except InputError:
        return None
    seal = found.pop(SEAL)
    return found if seal == _seal(found) else None


def _seal(facts: Facts) -> str:
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()


@contextmanager
def _claimed(path: Path) -> Iterator[None]:
    """Hold the lock of the file of a point, which is created if it is absent."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    except OSError as error:
        raise not_written(path, error) from error
    try:
        with suppress(OSError):  # a file system without locks: a point may be computed twice
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
