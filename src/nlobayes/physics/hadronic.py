"""Cross sections of p p -> two electroweakinos or sleptons at LO and NLO QCD, by NumPy or JAX.

sigma = ∫ dQ (2 Q / s) Σ_q Phi_q(Q^2 / s) sigmahat_q(Q), from the threshold up. Squark exchange is
corrected as in the limit of heavy squarks, which is approximate; gluon fusion, supersymmetric QCD
loops and electroweak corrections are absent.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from nlobayes.errors import InputError
from nlobayes.physics.luminosity import Luminosities, energies, luminosities
from nlobayes.physics.mssm import MAXIMUM_MASS_GEV, THRESHOLD_MASS_GEV
from nlobayes.physics.partonic import Pair, born_cross_sections, pair_at
from nlobayes.physics.pdf import MSTW2008_NLO
from nlobayes.physics.processes import Process

PB_GEV2 = 0.3893793721e9
MINIMUM_SQUARK_MASS_GEV = 2000.0
ALLOWED = (
    f"|m| from {THRESHOLD_MASS_GEV:.4f} GeV (m_Z / 2), sums of two |m| up to "
    f"{2 * MAXIMUM_MASS_GEV:g} GeV or 4/13 of sqrt(s), squarks from "
    f"{MINIMUM_SQUARK_MASS_GEV:g} GeV, mixings that couple to quarks"
)
"""Domain of the engine."""
LARGEST_LEFT_PART = 1 + 1e-6
"""Largest left part of a slepton, with the rounding of squared mixings in files."""

# Small enough for the arrays of a chunk to fit into the processor's cache.
_POINTS_PER_BLOCK = 128


class CrossSections(NamedTuple):
    """Cross sections in pb, each (point,).

    LO and NLO at the central scale, NLO at half of it (`scale_up`) and at twice (`scale_down`).
    """

    lo_pb: np.ndarray
    nlo_pb: np.ndarray
    scale_up_pb: np.ndarray
    scale_down_pb: np.ndarray


ORDERS = CrossSections._fields


def of_process(
    process: Process,
    named: Mapping[str, float | np.ndarray],
    sqrt_s_tev: float,
    squark_mass_gev: float | np.ndarray = np.inf,
) -> CrossSections:
    """Return the cross sections of a process at masses and mixings by name.

    The first call at an energy takes 0.2 s more (`beams_at`).

    Raises InputError if a column is missing, a point is outside the domain (`ALLOWED`), or the
    energy is not 7 to 14 TeV.

    Parameters
    ----------
    process
        The two particles, from `make_process`.
    named
        Numbers, or arrays (point,), of all `process.columns`, as `data.slha.read_spectrum` returns
        them; others are ignored. Masses are in GeV.
    sqrt_s_tev
        Energy of the collisions.
    squark_mass_gev
        Common mass of the squarks; infinity decouples them. Sleptons do not depend on it.
    """
    if missing := [name for name in process.columns if name not in named]:
        raise InputError("physics.missing_columns", missing=missing, needed=process.columns)
    given = [np.atleast_1d(np.asarray(named[name], np.float64)) for name in process.columns]
    points = dict(zip(process.columns, np.broadcast_arrays(*given), strict=True))
    return cross_sections(pair_at(process, points), squark_mass_gev, beams_at(sqrt_s_tev))


def cross_sections(
    pair: Pair, squark_mass_gev: float | np.ndarray, beams: Luminosities
) -> CrossSections:
    """Return the cross sections of points in the domain; arguments as `by_exchange`.

    Raises InputError if a point is outside.
    """
    squarks = np.broadcast_to(np.asarray(squark_mass_gev, np.float64), pair.first_mass_gev.shape)
    check_domain(pair, squarks, beams)
    return CrossSections(*by_exchange(pair, squarks, beams, ORDERS).sum(axis=1))


def cross_sections_at(pair: Pair, squark_mass_gev: np.ndarray, sqrt_s_tev: float) -> CrossSections:
    """Evaluate all orders at an energy of 7 to 14 TeV; NaN outside the domain."""
    found = by_exchange(pair, squark_mass_gev, beams_at(sqrt_s_tev), ORDERS)
    return CrossSections(*found.sum(axis=1))


def channels_at(
    pair: Pair, squark_mass_gev: np.ndarray, sqrt_s_tev: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return the fractions of the Born cross section from Z exchange and from its interference.

    Both have axis (point,); the remaining fraction is squark exchange.
    """
    (born,) = by_exchange(pair, squark_mass_gev, beams_at(sqrt_s_tev), ("lo_pb",))
    of_z, mixed, _ = born
    with np.errstate(divide="ignore", invalid="ignore"):
        return of_z / born.sum(axis=0), mixed / born.sum(axis=0)


def by_exchange(
    pair: Pair, squark_mass_gev: np.ndarray, beams: Luminosities, orders: Sequence[str]
) -> np.ndarray:
    """Return cross sections in pb (order, exchange, point); NaN outside the domain (`ALLOWED`).

    Exchanges are those of `born_cross_sections`, and add.

    Parameters
    ----------
    pair
        Two particles per point.
    squark_mass_gev
        Mass of the squarks of each point (point,); infinity decouples them.
    beams
        Parton luminosities of protons at the collision energy.
    orders
        Some orders of `beams`.
    """
    good, xp = _computable(pair, squark_mass_gev, beams), squark_mass_gev.__array_namespace__()
    if xp is np:
        rows = np.flatnonzero(good)
        values = np.full((len(orders), 3, len(good)), np.nan)
        for start in range(0, len(rows), _POINTS_PER_BLOCK):
            block = rows[start : start + _POINTS_PER_BLOCK]
            found = integrate(pair.at(block), squark_mass_gev[block], beams, orders)
            values[..., block] = found
        return values
    # Shapes of JAX do not depend on values. Points outside the domain are computed at other
    # values, so derivatives at the others stay finite.
    inside = pair._replace(
        first_mass_gev=xp.where(good, pair.first_mass_gev, MAXIMUM_MASS_GEV),
        second_mass_gev=xp.where(good, pair.second_mass_gev, MAXIMUM_MASS_GEV),
        first_mixing=xp.where(good[:, None], pair.first_mixing, 0.5),
        second_mixing=xp.where(good[:, None], pair.second_mixing, 0.5),
    )
    squarks = xp.where(good, squark_mass_gev, MINIMUM_SQUARK_MASS_GEV)
    values = xp.where(good, integrate(inside, squarks, beams, orders), np.nan)
    return values


def integrate(
    pair: Pair, squark_mass_gev: np.ndarray, beams: Luminosities, orders: Sequence[str]
) -> np.ndarray:
    """Integrate over Q, as `by_exchange`, at points in the domain."""
    q, measure = energies(pair.threshold_gev, beams.maximum_gev, beams.sqrt_s_gev)
    born = PB_GEV2 * measure * born_cross_sections(pair, q, squark_mass_gev)
    phi = beams.at(pair.charge, orders, q, pair.threshold_gev)
    xp = squark_mass_gev.__array_namespace__()
    return xp.stack([(born * each[:, None]).sum(axis=(0, 3)) for each in phi])


@lru_cache(maxsize=4)
def beams_at(sqrt_s_tev: float) -> Luminosities:
    """Build the luminosities at an energy, once in a process: 0.2 s."""
    return luminosities(MSTW2008_NLO, 1000 * sqrt_s_tev)


def _computable(pair: Pair, squark_mass_gev: np.ndarray, beams: Luminosities) -> np.ndarray:
    """Return which points (point,) are in the domain."""
    good = (squark_mass_gev >= MINIMUM_SQUARK_MASS_GEV) | pair.of_sleptons
    good = good & (pair.threshold_gev <= beams.largest_pair_gev)
    sizes = _sizes(pair)
    for mass, mixing in zip(sizes, (pair.first_mixing, pair.second_mixing), strict=True):
        good = good & (mass >= THRESHOLD_MASS_GEV)
        good = good & mixing.__array_namespace__().isfinite(mixing).all(axis=1)
        if pair.of_sleptons:
            good = good & (mixing[:, 0] >= 0) & (mixing[:, 0] <= LARGEST_LEFT_PART)
    return good


def _sizes(pair: Pair) -> tuple[np.ndarray, np.ndarray]:
    """Return both masses (point,), without their signs where these have a meaning."""
    masses = (pair.first_mass_gev, pair.second_mass_gev)
    return masses if pair.of_sleptons else (abs(masses[0]), abs(masses[1]))


def check_domain(pair: Pair, squark_mass_gev: np.ndarray, beams: Luminosities) -> None:
    """Refuse points outside the domain.

    Raises InputError if a mass or a sum of two lies outside its range, a mixing is not finite, the
    left part of a slepton is not 0 to 1, or the squarks are too light.
    """
    masses, most = np.array(_sizes(pair)), beams.largest_pair_gev
    if not (np.all(masses >= THRESHOLD_MASS_GEV) and np.all(pair.threshold_gev <= most)):
        raise InputError(
            "physics.mass",
            least=THRESHOLD_MASS_GEV,
            most=most,
            smallest=np.min(masses),
            heaviest=np.max(pair.threshold_gev),
        )
    if not (np.isfinite(pair.first_mixing).all() and np.isfinite(pair.second_mixing).all()):
        raise InputError("physics.mixings_not_finite")
    if pair.of_sleptons:
        parts = np.array([pair.first_mixing, pair.second_mixing])
        if not np.all((parts >= 0) & (parts <= LARGEST_LEFT_PART)):
            smallest, largest = np.min(parts), np.max(parts)
            raise InputError("physics.left_part", smallest=smallest, largest=largest)
    if not (pair.of_sleptons or np.all(squark_mass_gev >= MINIMUM_SQUARK_MASS_GEV)):
        lightest = np.min(squark_mass_gev)
        raise InputError("physics.light_squarks", least=MINIMUM_SQUARK_MASS_GEV, received=lightest)
