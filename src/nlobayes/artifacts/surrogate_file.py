"""Fast reading of surrogate files with h5py alone: users start a process to predict one point.

Files may come from unknown sources, so objects that are not plain arrays are refused before they
are read.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from nlobayes.artifacts.places import remedy
from nlobayes.artifacts.plain_hdf5 import Plain, is_number, open_plain, values
from nlobayes.artifacts.schemas import SCHEMAS, decode
from nlobayes.artifacts.seals import check_seal
from nlobayes.errors import InputError
from nlobayes.types import Exported, NoiseTable

KIND = "surrogate"
DRAWN = "posterior/"
NOISE = "noise"
CLASSES = "classes"
"""Form of a surrogate of classes, which has no noise."""
NO_NOISE: dict[str, Any] = {"residual": np.zeros(0), "probability": np.zeros((0, 0))}


def read_surrogate(path: Path) -> Exported:
    """Read an exported surrogate; `surrogate.schema` checks its content.

    Raises
    ------
    InputError
        If the file is missing, cannot be read, has changed, or is no surrogate.
    """
    check_seal(path, KIND)
    with open_plain(path) as file:
        facts = _facts(file, path)
        arrays = {name: values(array) for name, array in file.arrays.items() if is_number(array)}
    needed = _needed(arrays, SCHEMAS[_form(facts, path)], path)
    drawn = {name: array for name, array in arrays.items() if name.startswith(DRAWN)}
    return Exported(
        variables={name.removeprefix(DRAWN): array for name, array in drawn.items()},
        **(NO_NOISE | needed),
        facts=facts,
        further=_further(arrays, path),
    )


def _form(facts: Mapping[str, Any], path: Path) -> str:
    """Return the key of the schema of a file: that of numbers, or that of classes."""
    form = facts.get("form")
    if form not in (None, CLASSES):
        raise InputError("artifacts.no_form", where=path, kind=KIND, form=form, remedy=remedy(path))
    return f"{KIND}/{form}" if form else KIND


def noise_group(place: int) -> str:
    """Name the noise group of a target: `noise` for the first, `noise_2` for the second."""
    return NOISE if place == 0 else f"{NOISE}_{place + 1}"


def _further(arrays: dict[str, np.ndarray], path: Path) -> tuple[NoiseTable, ...]:
    """Collect the noise of each target after the first, if any."""
    tables: list[NoiseTable] = []
    while any(name.startswith(f"{noise_group(len(tables) + 1)}/") for name in arrays):
        group = {noise_group(len(tables) + 1): SCHEMAS[KIND][NOISE]}
        tables.append(NoiseTable(**_needed(arrays, group, path)))
    return tuple(tables)


def _facts(file: Plain, path: Path) -> dict[str, Any]:
    try:
        facts = {name: decode(value) for name, value in file.attributes.items()}
    except (ValueError, RecursionError) as error:
        raise InputError("artifacts.attribute_no_json", where=path, reason=str(error)) from error
    if facts.get("kind") != KIND:
        raise InputError("artifacts.no_surrogate", path=path, found=facts.get("kind"), kind=KIND)
    return facts


def _needed(
    arrays: dict[str, np.ndarray], groups: Mapping[str, Mapping[str, tuple[str, ...]]], path: Path
) -> dict[str, np.ndarray]:
    """Collect the required arrays of groups; arrays with the same dim must agree on its length."""
    found: dict[str, np.ndarray] = {}
    lengths: dict[str, int] = {}
    for group, variables in groups.items():
        for name, dims in variables.items():
            place = f"{group}/{name}"
            if place not in arrays:
                raise InputError("artifacts.no_array", path=path, array=place)
            found[name] = arrays[place]
            shape = found[name].shape
            sizes = zip(dims, shape, strict=False)
            fits = (lengths.setdefault(dim, size) == size for dim, size in sizes)
            if len(shape) != len(dims) or not all(fits):
                required = [lengths.get(dim, dim) for dim in dims]
                raise InputError(
                    "artifacts.other_shape", where=path, array=place, shape=shape, required=required
                )
    return found
