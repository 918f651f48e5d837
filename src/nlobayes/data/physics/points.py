"""Evaluation of the engine at given points: cross sections and channels, NaN outside its domain."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from nlobayes.data.physics.hadronic import (
    MAXIMUM_MASS_GEV,
    MINIMUM_SQUARK_MASS_GEV,
    ORDERS,
    CrossSections,
    by_exchange,
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


def cross_sections_at(pair: Pair, squark_mass_gev: np.ndarray, sqrt_s_tev: float) -> CrossSections:
    """Evaluate all orders at every point; arguments as `by_exchange_at`."""
    return CrossSections(*by_exchange_at(pair, squark_mass_gev, sqrt_s_tev, ORDERS).sum(axis=1))


def by_exchange_at(
    pair: Pair, squark_mass_gev: np.ndarray, sqrt_s_tev: float, orders: Sequence[str]
) -> np.ndarray:
    """Evaluate the engine at every point; NaN if a mass or a mixing is outside its domain.

    Parameters
    ----------
    pair
        Two electroweakinos per point.
    squark_mass_gev
        Mass of the squarks of each point (point,); infinity decouples them.
    sqrt_s_tev
        Energy of the collisions, 7 to 14.
    orders
        Some `ORDERS`.

    Returns
    -------
    Cross sections in pb (order, exchange, point), as `hadronic.by_exchange`.
    """
    beams = _beams_at(1000 * sqrt_s_tev)
    if squark_mass_gev.__array_namespace__() is not np:
        return _at_every_point(pair, squark_mass_gev, beams, orders)
    rows = np.flatnonzero(_computable(pair, squark_mass_gev))
    found = by_exchange(pair.at(rows), squark_mass_gev[rows], beams, orders)
    values = np.full((*found.shape[:-1], len(squark_mass_gev)), np.nan)
    values[..., rows] = found
    return values


def channels_at(
    pair: Pair, squark_mass_gev: np.ndarray, sqrt_s_tev: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return the fractions of the Born cross section from Z exchange and from its interference.

    Both have axis (point,); the remaining fraction is squark exchange.
    """
    (born,) = by_exchange_at(pair, squark_mass_gev, sqrt_s_tev, ("lo_pb",))
    of_z, mixed, _ = born
    with np.errstate(divide="ignore", invalid="ignore"):
        return of_z / born.sum(axis=0), mixed / born.sum(axis=0)


def _at_every_point(
    pair: Pair, squark_mass_gev: np.ndarray, beams: Luminosities, orders: Sequence[str]
) -> np.ndarray:
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
    found: np.ndarray = xp.where(good, integrate(elsewhere, squarks, beams, orders), np.nan)
    return found


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


@lru_cache(maxsize=4)
def _beams_at(sqrt_s_gev: float) -> Luminosities:
    """Build the luminosities at an energy, once in a process: 0.2 s."""
    return luminosities(MSTW2008_NLO, sqrt_s_gev)
