"""SLHA files of tree-level neutralinos and charginos, in place of a spectrum generator's."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from nlobayes.physics.hadronic import cross_sections_at
from nlobayes.physics.mssm import Parameters, Spectrum, charginos, neutralinos
from nlobayes.physics.partonic import select_pair

NEUTRALINOS = (1000022, 1000023, 1000025, 1000035)
CHARGINOS = (1000024, 1000037)
SQUARKS = (*range(1000001, 1000005), *range(2000001, 2000005))
SQUARK_GEV = 3000.0
FB = 1000


class Spectra(NamedTuple):
    """Soft masses in GeV and tan beta; numbers or arrays (point,)."""

    bino_gev: ArrayLike
    wino_gev: ArrayLike
    higgsino_gev: ArrayLike
    tan_beta: ArrayLike

    @property
    def parameters(self) -> Parameters:
        """The same as arrays of one length."""
        return Parameters(*np.broadcast_arrays(*(np.asarray(x, float) for x in self)))


def write_slha(folder: Path, spectra: Spectra, *, prospino: bool = False) -> None:
    """Write a file for each point, with cross sections of the lightest pair if requested.

    The embedded engine stands in for Prospino: NLO at 13 TeV, with squarks of 3 TeV.
    """
    folder.mkdir(exist_ok=True)
    neutral, charged = neutralinos(spectra.parameters), charginos(spectra.parameters)
    rows = _prospino(neutral) if prospino else [""] * len(neutral.masses_gev)
    for number, row in enumerate(rows):
        known = dict(zip(NEUTRALINOS, neutral.masses_gev[number], strict=True))
        known |= dict(zip(CHARGINOS, charged.masses_gev[number], strict=True))
        known |= dict.fromkeys(SQUARKS, SQUARK_GEV)
        lines = ["BLOCK MASS", *(f"   {name}   {value:.8e}" for name, value in known.items())]
        u, v = np.split(charged.mixings[number], 2, axis=-1)
        for block, matrix in (("NMIX", neutral.mixings[number]), ("UMIX", u), ("VMIX", v)):
            entries = np.ndenumerate(matrix)
            lines += [
                f"BLOCK {block}",
                *(f"   {i + 1}  {k + 1}   {x:.8e}" for (i, k), x in entries),
            ]
        text = "\n".join([*lines, row]).rstrip() + "\n"
        (folder / f"point_{number:03}.slha").write_text(text)


def _prospino(found: Spectrum) -> list[str]:
    """Write a block of each point; errors of parton densities and alpha_s are made up."""
    squarks = np.full(len(found.masses_gev), SQUARK_GEV)
    lo, nlo, up, down = FB * np.array(cross_sections_at(select_pair(found, 1, 1), squarks, 13.0))
    columns = (lo, 2e-4 + 0 * lo, nlo, 1e-3 + 0 * lo)
    columns += (nlo, up, down, 0.02 * nlo, 1.01 * nlo, 0.99 * nlo)
    return [
        f"BLOCK PROSPINO_OUTPUT\n   1000022 1000022 13000 {' '.join(f'{x:.6e}' for x in row)}"
        for row in np.column_stack(columns)
    ]
