"""Listing of the files below a folder, without following a link or opening a file."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from nlobayes.artifacts.temporaries import is_left_behind

LEFT_BY_OTHERS = (".gitignore",)
"""Hidden files that DVC writes beside the files that it stores."""

ODD: tuple[tuple[Callable[[int], bool], str], ...] = (
    (stat.S_ISLNK, "is a link, which is not followed; put the files themselves in its place"),
    (stat.S_ISFIFO, "is a pipe and no file; move it away"),
    (stat.S_ISSOCK, "is a socket and no file; move it away"),
    (stat.S_ISCHR, "is a device and no file; move it away"),
    (stat.S_ISBLK, "is a device and no file; move it away"),
)


class Listing(NamedTuple):
    """Visible files, hidden entries with a remark on each, and odd entries with their error."""

    files: list[Path]
    hidden: dict[Path, str]
    odd: dict[Path, str]


def list_below(path: Path) -> Listing:
    """List the entries below a folder in the order of paths; for a file, list that file."""
    if path.is_file():
        return Listing([path], {}, {})
    found = Listing([], {}, {})
    waiting = [path] if path.is_dir() else []
    while waiting:
        folder = waiting.pop()
        try:
            for entry in os.scandir(folder):
                mode = entry.stat(follow_symlinks=False).st_mode
                waiting += _sort_in(folder / entry.name, mode, found)
        except OSError as error:
            found.odd[folder] = f"cannot be listed ({error.strerror}); give yourself the right to"
    return Listing(
        sorted(found.files), dict(sorted(found.hidden.items())), dict(sorted(found.odd.items()))
    )


def _sort_in(path: Path, mode: int, found: Listing) -> list[Path]:
    """Add an entry to the listing, or return it if it is a folder to be listed."""
    odd = next((message for is_such, message in ODD if is_such(mode)), None)
    if odd is not None:
        found.odd[path] = odd
    elif path.name.startswith("."):
        if path.name not in LEFT_BY_OTHERS:
            found.hidden[path] = _describe_hidden(path, mode)
    elif stat.S_ISDIR(mode):
        return [path]
    else:
        found.files.append(path)
    return []


def _describe_hidden(path: Path, mode: int) -> str:
    if stat.S_ISDIR(mode):
        return "is a hidden folder, which no job makes; what it holds was not verified"
    if is_left_behind(path):
        return "was left behind by a killed writer; it can be deleted"
    return "is a hidden file, which no job leaves; it was not verified"
