"""Fast reading of surrogate files with h5py alone: users start a process to predict one point.

Files may come from unknown sources, so objects that are not plain arrays are refused before they
are read.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from nlobayes.artifacts.places import damaged
from nlobayes.artifacts.plain_hdf5 import open_plain
from nlobayes.artifacts.schemas import DOMAIN, SCHEMAS, decode
from nlobayes.artifacts.seals import check_seal
from nlobayes.errors import InputError
from nlobayes.types import NoiseTable, SurrogateContent
from nlobayes.untyped import Document

KIND = "surrogate"
DRAWN = "posterior"
ROWS = "rows"
HELD_OUT = "held_out"
NOISE = "noise"
CLASSES = "classes"
"""Form of a surrogate of classes, which has no noise."""


def read_surrogate(path: Path) -> SurrogateContent:
    """Read an exported surrogate; `surrogate.consistency` checks its content.

    Raises InputError if the file is missing, cannot be read, has changed, or is no surrogate.
    """
    sha256 = check_seal(path, KIND)
    with open_plain(path, read_elsewhere=False) as file:
        arrays = file.numbers()
    try:
        facts = {name: decode(value) for name, value in file.attributes.items()}
    except (ValueError, RecursionError) as error:
        raise InputError("artifacts.attribute_no_json", where=path, reason=str(error)) from error
    if facts.get("kind") != KIND:
        raise InputError("artifacts.no_surrogate", path=path, found=facts.get("kind"), kind=KIND)
    if facts.get("form") not in (None, CLASSES):
        raise damaged("artifacts.no_form", path, kind=KIND, form=facts["form"])
    noises: list[NoiseTable] = []
    while not facts.get("form") and (not noises or _has(arrays, noise_group(len(noises)))):
        group = noise_group(len(noises))
        noises.append(NoiseTable(**_needed(arrays, group, SCHEMAS[KIND][NOISE], path)))
    return SurrogateContent(
        variables=_below(arrays, DRAWN),
        **_needed(arrays, "domain", DOMAIN, path),
        noises=tuple(noises),
        facts=facts,
        sha256=sha256,
        rows=_below(arrays, ROWS),
        held_out=_below(arrays, HELD_OUT),
    )


def noise_group(place: int) -> str:
    """Name the noise group of a target: `noise` for the first, `noise_2` for the second."""
    return NOISE if place == 0 else f"{NOISE}_{place + 1}"


def _below(arrays: Mapping[str, np.ndarray], group: str) -> dict[str, np.ndarray]:
    named = {name.partition("/"): array for name, array in arrays.items()}
    return {name: array for (place, _, name), array in named.items() if place == group}


def _has(arrays: Mapping[str, np.ndarray], group: str) -> bool:
    return any(name.startswith(f"{group}/") for name in arrays)


def _needed(
    arrays: Mapping[str, np.ndarray], group: str, schema: Mapping[str, tuple[str, ...]], path: Path
) -> Document:
    """Collect the arrays of a group; arrays with the same dim must agree on its length."""
    lengths: dict[str, int] = {}
    for name, dims in schema.items():
        place = f"{group}/{name}"
        if place not in arrays:
            raise InputError("artifacts.no_array", path=path, array=place)
        shape = arrays[place].shape
        fits = [lengths.setdefault(*each) == each[1] for each in zip(dims, shape, strict=False)]
        if len(shape) != len(dims) or not all(fits):
            required = [lengths.get(dim, dim) for dim in dims]
            raise InputError(
                "artifacts.other_shape", where=path, array=place, shape=shape, required=required
            )
    return {name: arrays[f"{group}/{name}"] for name in schema}
