"""SLHA files of tree-level neutralinos: a stand-in for those of a spectrum generator."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from nlobayes.physics.hadronic import cross_sections_at
from nlobayes.physics.mssm import Parameters, Spectrum, neutralinos
from nlobayes.physics.partonic import select_pair

NEUTRALINOS = (1000022, 1000023, 1000025, 1000035)
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
    def at_tree_level(self) -> Spectrum:
        """Masses and mixings of the neutralinos at every point."""
        return neutralinos(Parameters(*np.broadcast_arrays(*(np.asarray(x, float) for x in self))))


def write_slha(folder: Path, spectra: Spectra, *, prospino: bool = False) -> None:
    """Write a file for each point, with cross sections of the lightest pair if requested.

    The embedded engine stands in for Prospino: NLO at 13 TeV, with squarks of 3 TeV.
    """
    folder.mkdir(exist_ok=True)
    found = spectra.at_tree_level
    rows = _prospino(found) if prospino else [""] * len(found.masses_gev)
    for number, (masses, mixings, row) in enumerate(zip(*found, rows, strict=True)):
        heavy = dict.fromkeys(SQUARKS, SQUARK_GEV)
        known = dict(zip(NEUTRALINOS, masses.tolist(), strict=True)) | heavy
        mass = [f"   {particle}   {value:.8e}" for particle, value in known.items()]
        mixing = [f"   {i + 1}  {k + 1}   {value:.8e}" for (i, k), value in np.ndenumerate(mixings)]
        text = "\n".join(["BLOCK MASS", *mass, "BLOCK NMIX", *mixing, row]).rstrip() + "\n"
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
