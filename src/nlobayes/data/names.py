"""Names of inputs that all files of a run, and the tables of its predictions, can carry."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from nlobayes.data.cells import is_number

LONGEST = 200
"""Largest number of characters of a name."""
BESIDE_INPUTS = ("row", "file", "domain", "reason")
"""Columns that the predictions of every surrogate have beside its inputs."""


def is_line(name: str) -> bool:
    """Return whether a name is one line of text that is not too long."""
    return name.isprintable() and name == name.strip() and 0 < len(name) <= LONGEST


def is_carried(name: str) -> bool:
    """Return whether an input may have this name, which a header cell must state in one line."""
    is_cell = ":" not in name and not name.startswith("#") and not is_number(name)
    return is_line(name) and is_cell and name not in BESIDE_INPUTS


def carried(names: Sequence[str], taken: Collection[str] = ()) -> list[str]:
    """Replace names that are `taken` or not carried by `x` and their position."""
    given, own = {*names}, []
    for position, name in enumerate(names):
        if name in taken or not is_carried(name):
            name = f"x{position}"
            while name in given:
                name += "_"
        own.append(name)
    return own
