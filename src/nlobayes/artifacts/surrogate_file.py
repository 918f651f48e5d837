"""Surrogate files, read as fast as HDF5 can be: people start a process to predict one point.

They may come from unknown sources, so what is not plain is refused before it is read.
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
"""The form of surrogates of classes, which have no noise."""
NO_NOISE: dict[str, Any] = {"residual": np.zeros(0), "probability": np.zeros((0, 0))}


def read_surrogate(path: Path) -> Exported:
    """Read an exported surrogate; `surrogate.schema` checks its content.

    Raises
    ------
    InputError
        If the file is missing, unreadable, not what was written, or no surrogate.
    """
    check_seal(path, KIND)
    with open_plain(path) as file:
        facts = _facts(file, path)
        arrays = {name: values(array) for name, array in file.arrays.items() if is_number(array)}
    needed = _needed(arrays, SCHEMAS[_form(facts, path)], path)
    drawn = {name: found for name, found in arrays.items() if name.startswith(DRAWN)}
    return Exported(
        variables={name.removeprefix(DRAWN): found for name, found in drawn.items()},
        **(NO_NOISE | needed),
        facts=facts,
        further=_further(arrays, path),
    )


def _form(facts: Mapping[str, Any], path: Path) -> str:
    """Find which schema a file states: that of numbers, or that of classes."""
    form = facts.get("form")
    if form not in (None, CLASSES):
        raise InputError("artifacts.no_form", where=path, kind=KIND, form=form, remedy=remedy(path))
    return f"{KIND}/{form}" if form else KIND


def noise_group(place: int) -> str:
    """Name the group of the noise of a target: `noise` of the first, `noise_2` of the second."""
    return NOISE if place == 0 else f"{NOISE}_{place + 1}"


def _further(arrays: dict[str, np.ndarray], path: Path) -> tuple[NoiseTable, ...]:
    """Take the noise of each target behind the first, as far as there are any."""
    found: list[NoiseTable] = []
    while any(name.startswith(f"{noise_group(len(found) + 1)}/") for name in arrays):
        group = {noise_group(len(found) + 1): SCHEMAS[KIND][NOISE]}
        found.append(NoiseTable(**_needed(arrays, group, path)))
    return tuple(found)


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
    """Take the arrays that groups must have, whose dims have one length each."""
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
                wanted = [lengths.get(dim, dim) for dim in dims]
                raise InputError(
                    "artifacts.other_shape", where=path, array=place, shape=shape, wanted=wanted
                )
    return found
