"""Cross sections of p p -> two electroweakinos at LO and NLO QCD, of arrays of NumPy or of JAX.

sigma = ∫ dQ (2 Q / s) Σ_q Phi_q(Q^2 / s) sigmahat_q(Q), from the threshold up.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from nlobayes.data.physics.luminosity import Luminosities
from nlobayes.data.physics.mssm import MAXIMUM_MASS_GEV, THRESHOLD_MASS_GEV
from nlobayes.data.physics.partonic import Pair, born_cross_sections, threshold_gev
from nlobayes.errors import InputError

PB_GEV2 = 0.3893793721e9
MINIMUM_SQUARK_MASS_GEV = 2000.0

# Small enough for the arrays of a chunk to fit into the processor's cache.
_POINTS_PER_BLOCK = 128


class CrossSections(NamedTuple):
    """Cross sections in pb, each (point,).

    LO and NLO at mu = Q, the pair mass; NLO at mu = Q/2 (`scale_up`) and mu = 2 Q (`scale_down`).
    """

    lo_pb: np.ndarray
    nlo_pb: np.ndarray
    scale_up_pb: np.ndarray
    scale_down_pb: np.ndarray


ORDERS = CrossSections._fields


def cross_sections(
    pair: Pair, squark_mass_gev: float | np.ndarray, luminosities: Luminosities
) -> CrossSections:
    """Return the cross sections of a pair at every point.

    Squark exchange is corrected as in the limit of heavy squarks, which is approximate; gluon
    fusion, supersymmetric QCD loops and electroweak corrections are absent.

    Parameters
    ----------
    pair
        Two electroweakinos per point, |m| of m_Z / 2 to 1100 GeV.
    squark_mass_gev
        Common mass of all squarks, one for all points or one for each (point,); at least 2000,
        infinity decouples them.
    luminosities
        Parton luminosities of protons at the collision energy.

    Raises
    ------
    InputError
        If a mass lies outside its range, a mixing is not finite, or the squarks are too light.
    """
    return CrossSections(*by_exchange(pair, squark_mass_gev, luminosities, ORDERS).sum(axis=1))


def by_exchange(
    pair: Pair,
    squark_mass_gev: float | np.ndarray,
    luminosities: Luminosities,
    orders: Sequence[str],
) -> np.ndarray:
    """Return cross sections in pb of some `ORDERS` (order, exchange, point).

    Exchanges are those of `born_cross_sections`, and add. Other arguments and errors are those of
    `cross_sections`.
    """
    count = len(pair.first_mass_gev)
    squarks = np.broadcast_to(np.asarray(squark_mass_gev, np.float64), count)
    _check(pair, squarks)
    chunks = [
        slice(start, start + _POINTS_PER_BLOCK)
        for start in range(0, max(count, 1), _POINTS_PER_BLOCK)
    ]
    sigma = [integrate(pair.at(chunk), squarks[chunk], luminosities, orders) for chunk in chunks]
    return np.concatenate(sigma, axis=-1)


def integrate(
    pair: Pair, squark_mass_gev: np.ndarray, luminosities: Luminosities, orders: Sequence[str]
) -> np.ndarray:
    """Integrate over Q as `by_exchange`, from arrays of NumPy or of JAX."""
    threshold = threshold_gev(pair)
    q, measure = luminosities.energies(threshold)
    born = PB_GEV2 * measure * born_cross_sections(pair, q, squark_mass_gev)
    phi = luminosities.at(pair.kind, orders, q, threshold)
    return squark_mass_gev.__array_namespace__().stack(
        [(born * each[:, None]).sum(axis=(0, 3)) for each in phi]
    )


def _check(pair: Pair, squark_mass_gev: np.ndarray) -> None:
    low, high = THRESHOLD_MASS_GEV, MAXIMUM_MASS_GEV
    masses = np.abs([pair.first_mass_gev, pair.second_mass_gev])
    if not np.all((masses >= low) & (masses <= high)):
        raise InputError(
            "physics.neutralino_mass",
            least=low,
            most=high,
            smallest=np.min(masses),
            largest=np.max(masses),
        )
    if not (np.isfinite(pair.first_mixing).all() and np.isfinite(pair.second_mixing).all()):
        raise InputError("physics.mixings_not_finite")
    if not np.all(squark_mass_gev >= MINIMUM_SQUARK_MASS_GEV):
        lightest = np.min(squark_mass_gev)
        raise InputError("physics.light_squarks", least=MINIMUM_SQUARK_MASS_GEV, received=lightest)
