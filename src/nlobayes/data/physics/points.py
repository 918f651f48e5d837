"""Evaluation of the engine at given points: cross sections and channels, NaN outside its domain."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from nlobayes.data.physics.hadronic import (
    MAXIMUM_MASS_GEV,
    MINIMUM_SQUARK_MASS_GEV,
    CrossSections,
    cross_sections,
    integrate,
)
from nlobayes.data.physics.luminosity import Luminosities, luminosities
from nlobayes.data.physics.mssm import THRESHOLD_MASS_GEV
from nlobayes.data.physics.partonic import Pair
from nlobayes.data.physics.pdf import MSTW2008_NLO

ALLOWED = (
    f"|m| of {THRESHOLD_MASS_GEV:.4f} (m_Z / 2) to {MAXIMUM_MASS_GEV:g} GeV, squarks from "
    f"{MINIMUM_SQUARK_MASS_GEV:g} GeV, mixings that couple to quarks"
)
"""Domain of the engine."""
_GAUGINOS = np.array([True, True, False, False])


def cross_sections_at(pair: Pair, squark_mass_gev: np.ndarray, sqrt_s_tev: float) -> CrossSections:
    """Evaluate the engine at every point; NaN if a mass or a mixing is outside its domain.

    Parameters
    ----------
    pair
        Two neutralinos per point.
    squark_mass_gev
        Mass of the squarks of each point (point,); infinity decouples them.
    sqrt_s_tev
        Energy of the collisions, 7 to 14.
    """
    beams = _beams_at(1000 * sqrt_s_tev)
    if squark_mass_gev.__array_namespace__() is not np:
        return _at_every_point(pair, squark_mass_gev, beams)
    rows = np.flatnonzero(_computable(pair, squark_mass_gev))
    found = cross_sections(pair.at(rows), squark_mass_gev[rows], beams)
    values = np.full((len(found), len(squark_mass_gev)), np.nan)
    values[:, rows] = found
    return CrossSections(*values)


def channels_at(
    pair: Pair, squark_mass_gev: np.ndarray, sqrt_s_tev: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return the fractions of the Born cross section from Z exchange and from its interference.

    The amplitude is the sum of Z exchange, which does not depend on squarks, and of squark
    exchange, which does not depend on higgsino components. Two more evaluations therefore split the
    square: one with decoupled squarks, one without higgsinos. Both results have axis (point,); the
    remaining fraction is squark exchange.
    """
    xp = squark_mass_gev.__array_namespace__()
    total, of_z, of_squarks = (
        cross_sections_at(each, squarks, sqrt_s_tev).lo_pb
        for each, squarks in (
            (pair, squark_mass_gev),
            (pair, xp.full_like(squark_mass_gev, np.inf)),
            (_without_higgsinos(pair), squark_mass_gev),
        )
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        return of_z / total, (total - of_z - of_squarks) / total


def _at_every_point(pair: Pair, squark_mass_gev: np.ndarray, beams: Luminosities) -> CrossSections:
    """Evaluate the engine with JAX arrays, whose shapes may not depend on their values.

    Points outside the domain are computed at other values, so derivatives at the others stay
    finite.
    """
    good, xp = _computable(pair, squark_mass_gev), squark_mass_gev.__array_namespace__()
    elsewhere = pair._replace(
        first_mass_gev=xp.where(good, pair.first_mass_gev, MAXIMUM_MASS_GEV),
        second_mass_gev=xp.where(good, pair.second_mass_gev, MAXIMUM_MASS_GEV),
        first_mixing=xp.where(good[:, None], pair.first_mixing, 0.5),
        second_mixing=xp.where(good[:, None], pair.second_mixing, 0.5),
    )
    squarks = xp.where(good, squark_mass_gev, MINIMUM_SQUARK_MASS_GEV)
    found = integrate(elsewhere, squarks, beams)
    return CrossSections(*(xp.where(good, values, np.nan) for values in found.T))


def _computable(pair: Pair, squark_mass_gev: np.ndarray) -> np.ndarray:
    """Return which points (point,) are in the domain of the engine."""
    good = squark_mass_gev >= MINIMUM_SQUARK_MASS_GEV
    for mass, mixing in (
        (abs(pair.first_mass_gev), pair.first_mixing),
        (abs(pair.second_mass_gev), pair.second_mixing),
    ):
        good = good & (mass >= THRESHOLD_MASS_GEV) & (mass <= MAXIMUM_MASS_GEV)
        good = good & mixing.__array_namespace__().isfinite(mixing).all(axis=1)
    return good


def _without_higgsinos(pair: Pair) -> Pair:
    xp = pair.first_mixing.__array_namespace__()
    first, second = (
        xp.where(_GAUGINOS, each, 0.0) for each in (pair.first_mixing, pair.second_mixing)
    )
    return pair._replace(first_mixing=first, second_mixing=second)


@lru_cache(maxsize=4)
def _beams_at(sqrt_s_gev: float) -> Luminosities:
    """Build the luminosities at an energy, once in a process: 0.2 s."""
    return luminosities(MSTW2008_NLO, sqrt_s_gev)
