"""The engine at points of the user: cross sections and channels, NaN where it has none."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from nlobayes.data.physics.hadronic import (
    MAXIMUM_MASS_GEV,
    MINIMUM_SQUARK_MASS_GEV,
    CrossSections,
    cross_sections,
)
from nlobayes.data.physics.luminosity import Luminosities, luminosities
from nlobayes.data.physics.mssm import THRESHOLD_MASS_GEV
from nlobayes.data.physics.partonic import Pair
from nlobayes.data.physics.pdf import MSTW2008_NLO

ALLOWED = (
    f"|m| of {THRESHOLD_MASS_GEV:.4f} (m_Z / 2) to {MAXIMUM_MASS_GEV:g} GeV, squarks from "
    f"{MINIMUM_SQUARK_MASS_GEV:g} GeV, mixings that couple to quarks"
)
"""Points at which the engine has an answer."""
_HIGGSINO = (2, 3)


def cross_sections_at(pair: Pair, squark_mass_gev: np.ndarray, sqrt_s_tev: float) -> CrossSections:
    """Evaluate the engine at every point; NaN where a mass or a mixing is none that it takes.

    Parameters
    ----------
    pair
        Two neutralinos per point.
    squark_mass_gev
        Mass of the squarks of each point (point,); infinity decouples them.
    sqrt_s_tev
        Energy of the collisions, 7 to 14.
    """
    rows = np.flatnonzero(_computable(pair, squark_mass_gev))
    found = cross_sections(pair.at(rows), squark_mass_gev[rows], _beams_at(1000 * sqrt_s_tev))
    values = np.full((len(found), len(squark_mass_gev)), np.nan)
    values[:, rows] = found
    return CrossSections(*values)


def channels_at(
    pair: Pair, squark_mass_gev: np.ndarray, sqrt_s_tev: float
) -> tuple[np.ndarray, np.ndarray]:
    """Give the fractions of the Born cross section from Z exchange, and from its interference.

    The amplitude is that of Z exchange, which squarks do not enter, plus that of squark exchange,
    which higgsino components do not enter. So two more evaluations split the square: one with
    decoupled squarks, one without higgsinos. Both results have axis (point,); the rest to 1 is
    squark exchange.
    """
    total, of_z, of_squarks = (
        cross_sections_at(each, squarks, sqrt_s_tev).lo_pb
        for each, squarks in (
            (pair, squark_mass_gev),
            (pair, np.full(len(squark_mass_gev), np.inf)),
            (_without_higgsinos(pair), squark_mass_gev),
        )
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        return of_z / total, (total - of_z - of_squarks) / total


def _computable(pair: Pair, squark_mass_gev: np.ndarray) -> np.ndarray:
    """Find at which points (point,) the engine has an answer."""
    good = squark_mass_gev >= MINIMUM_SQUARK_MASS_GEV
    for mass, mixing in (
        (np.abs(pair.first_mass_gev), pair.first_mixing),
        (np.abs(pair.second_mass_gev), pair.second_mixing),
    ):
        good = good & (mass >= THRESHOLD_MASS_GEV) & (mass <= MAXIMUM_MASS_GEV)
        good = good & np.isfinite(mixing).all(axis=1)
    return good


def _without_higgsinos(pair: Pair) -> Pair:
    first, second = pair.first_mixing.copy(), pair.second_mixing.copy()
    first[:, _HIGGSINO] = second[:, _HIGGSINO] = 0.0
    return pair._replace(first_mixing=first, second_mixing=second)


@lru_cache(maxsize=4)
def _beams_at(sqrt_s_gev: float) -> Luminosities:
    """Build the luminosities of an energy once in a process: 0.2 s."""
    return luminosities(MSTW2008_NLO, sqrt_s_gev)
