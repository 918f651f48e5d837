"""What a NetCDF file claims of itself, judged before any of its values is read.

Ours hold plain numbers and text, uncompressed. A file of a stranger may claim a variable of more
bytes than a memory has, or types that a library would have to interpret.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import netCDF4

from nlobayes.errors import InputError


def check_claims(file: netCDF4.Dataset, path: Path) -> None:
    """Refuse an open file that claims more than it holds, or other than numbers and text.

    Raises
    ------
    InputError
        If a group defines a type of its own, or the variables are larger than the file.
    """
    claimed, held = 0, path.stat().st_size
    for group in _groups(file):
        own = [*group.cmptypes, *group.vltypes, *group.enumtypes]
        if own:
            raise InputError(f"{path}: {group.path} defines the type {own[0]!r}; no artifact does")
        for variable in group.variables.values():
            claimed += variable.size * (1 if variable.dtype is str else variable.dtype.itemsize)
    if claimed > held:
        raise InputError(
            f"{path}: its variables claim {claimed:.3g} bytes where the file has {held}; "
            "it is no artifact of this project"
        )


def _groups(group: netCDF4.Dataset) -> Iterator[netCDF4.Dataset]:
    yield group
    for inner in group.groups.values():
        yield from _groups(inner)
