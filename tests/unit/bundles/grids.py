"""Surrogates of grids over masses, and spectra with their particles."""

from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np

from nlobayes.data.dataset_of_table import make_dataset
from nlobayes.data.selection import Selection
from nlobayes.types import SurrogateContent
from tests.unit.conftest import CHOICES
from tests.unit.spectra_with_surrogates import write

STATED = {"incoming": "2212 2212", "sqrt_s_tev": "13.0", "order": "NLO+NLL", "fixed": "none"}
PURE = ((1.0, 0.0, 0.0, 0.0), (0.0, 1.0, 0.0, 0.0), (0.0, 0.0, 0.7, 0.7), (0.0, 0.0, 0.7, -0.7))
"""Rows of NMIX: bino, wino, and higgsinos to two per cent."""


def write_grid(
    folder: Path,
    make_surrogate: Callable[..., SurrogateContent],
    name: str,
    columns: tuple[str, ...],
    stated: Mapping[str, str],
) -> Path:
    """Write the surrogate of a grid: 60 rows of masses from 100 to 1000 GeV."""
    masses = np.random.default_rng(5).uniform(100, 1000, (60, len(columns)))
    units = {**dict.fromkeys(columns, "GeV"), "sigma_pb": "pb"}
    selection = Selection(masses, 10 ** (-masses.mean(axis=1) / 200), units)
    choices = CHOICES._replace(feature_map="raw")
    dataset = make_dataset(selection, columns, ("sigma_pb",), choices)
    exported = make_surrogate(dataset, draws=20)
    return write(folder / f"{name}.nc", exported, dataset, {**STATED, "name": name, **stated})


def spectrum(
    masses: Mapping[int, float],
    neutralinos: tuple[tuple[float, ...], ...] = PURE,
    charginos: tuple[tuple[float, ...], ...] = ((1.0, 0.0), (0.0, 1.0)),
) -> str:
    """Write SLHA text with these masses in GeV, and rows of NMIX, and of UMIX and VMIX."""
    rows = {"NMIX": neutralinos, "UMIX": charginos, "VMIX": charginos}
    lines = ["Block MASS", *(f" {number} {mass!r}" for number, mass in masses.items())]
    for block, matrix in rows.items():
        lines += [f"Block {block}"]
        lines += [
            f" {i} {j} {x!r}" for i, row in enumerate(matrix, 1) for j, x in enumerate(row, 1)
        ]
    return "\n".join([*lines, ""])
