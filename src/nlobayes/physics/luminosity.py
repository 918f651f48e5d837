"""Parton luminosities with the NLO QCD correction of a colour-neutral final state.

A pair of mass Q that a vector or axial current produces has the QCD correction of a Drell-Yan pair,
a function of Q alone: sigma = ∫ dtau Σ_q Phi_q(tau) sigmahat_q(Q), tau = Q^2 / s.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.interpolate import CubicSpline, PPoly

from nlobayes.errors import InputError
from nlobayes.physics.evolution import Distributions, coupling, evolve
from nlobayes.physics.mellin import CONTOUR, hurwitz_zeta, invert, s1, s2
from nlobayes.physics.mssm import MAXIMUM_MASS_GEV, THRESHOLD_MASS_GEV
from nlobayes.physics.pdf import InputDistributions
from nlobayes.physics.splitting import CF, TR, leading_order

SQRT_S_RANGE_GEV = (7000.0, 14000.0)

VARIATIONS = {
    "lo_pb": (1.0, 1.0),
    "nlo_pb": (1.0, 1.0),
    "scale_up_pb": (0.5, 0.5),
    "scale_down_pb": (2.0, 2.0),
    "mu_r_half_pb": (0.5, 1.0),
    "mu_r_twice_pb": (2.0, 1.0),
    "mu_f_half_pb": (1.0, 0.5),
    "mu_f_twice_pb": (1.0, 2.0),
}
"""Renormalisation and factorisation scale over the central one, by order and variation. The first
four are those of a variation at three points, all together those of one at seven."""
THREE_POINTS, SEVEN_POINTS = tuple(VARIATIONS)[:4], tuple(VARIATIONS)

_MINIMUM_GEV = 60.0
# Above this share of sqrt(s), 8.5 of 13 TeV, the luminosities are negligible.
_MAXIMUM_SHARE = 8.5 / 13
# Cross sections of pairs up to this share, 4 of 13 TeV, change by less than 4e-5 by the former one.
_PAIR_SHARE = 4 / 13
_KNOTS, _THRESHOLD_KNOTS = 120, 40
_UP_TYPE, _DOWN_TYPE = [0, 3], [1, 2, 4]
# The CKM matrix is diagonal, as in Prospino and Resummino: the W couples u to d, and c to s.
_UP_PARTNERS, _DOWN_PARTNERS = [0, 3], [1, 2]
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(32)
_PLACES = (_NODES + 1) / 2


class Luminosities(NamedTuple):
    """Splines of ln Phi of neutral pairs, by up- and by down-type quarks, and of charge +1 and -1.

    At scales proportional to Q, values of `log_phi` over ln Q have the axes (those four) and
    (order), as `orders`. At scales proportional to the average mass they are over the logarithm of
    the threshold and have a first axis, the nodes of `energies`. There ln Phi of the leading order
    is followed by the ratio of each order to it, which is negative far above the scale.
    """

    log_phi: CubicSpline
    sqrt_s_gev: float
    maximum_gev: float
    orders: tuple[str, ...] = THREE_POINTS
    central_scale: str = "invariant_mass"

    @property
    def largest_pair_gev(self) -> float:
        """Largest sum of the masses of a pair; at the average mass the splines end there."""
        share = _PAIR_SHARE if self.central_scale == "invariant_mass" else 0.0
        return max(2 * MAXIMUM_MASS_GEV, share * self.sqrt_s_gev)

    def at(
        self,
        charge: int,
        orders: Sequence[str],
        energies_gev: np.ndarray,
        threshold_gev: np.ndarray,
    ) -> np.ndarray:
        """Return Phi of pairs of a charge: 1, -1 or 0.

        Energies have the axes (point, node), the result (order, quark, point, node).
        """
        rows = {1: [2], -1: [3]}.get(charge, [0, 1])
        places = [self.orders.index(order) for order in orders]
        xp = energies_gev.__array_namespace__()

        def values(at: np.ndarray, places: list[int]) -> np.ndarray:
            spline = PPoly(self.log_phi.c[..., rows, :][..., places], self.log_phi.x)
            found: np.ndarray = xp.moveaxis(_evaluate(spline, xp.log(at)), (3, 2), (0, 1))
            return found

        if self.central_scale == "invariant_mass":
            return xp.exp(values(energies_gev, places))
        born, *ratios = values(threshold_gev, [0, *(place + 1 for place in places)])
        return xp.exp(born) * xp.stack(ratios)


def energies(
    threshold_gev: np.ndarray, maximum_gev: float, sqrt_s_gev: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return Q = Q_0 (Q_max / Q_0)^(y^3) at nodes y, and 2 Q / s dQ of each (point, node)."""
    start, xp = threshold_gev[:, None], threshold_gev.__array_namespace__()
    log_range = xp.log(maximum_gev / start)
    q = start * xp.exp(log_range * _PLACES**3)
    return q, 2 * (q / sqrt_s_gev) ** 2 * log_range * 3 * _PLACES**2 * (_WEIGHTS / 2)


def drell_yan_quark(n: np.ndarray) -> np.ndarray:
    """Return the moments D_q of the q qbar coefficient, in alpha_s / 2 pi at mu = Q (MSbar)."""
    sums = sum(s1(n + shift) ** 2 + s2(n + shift) for shift in (-1, 1))
    trigamma = hurwitz_zeta(2, n) + hurwitz_zeta(2, n + 2)
    return CF * (2 * sums + 2 * trigamma + 2 * np.pi**2 / 3 - 8)


def drell_yan_gluon(n: np.ndarray) -> np.ndarray:
    """Return the moments D_g of the q g coefficient, in alpha_s / 2 pi at mu = Q (MSbar)."""
    logarithms = sum(
        weight * (1 / (n + k) ** 2 - 2 * s1(n + k) / (n + k)) for k, weight in enumerate((1, -2, 2))
    )
    return TR * (logarithms + 1 / (2 * n) + 3 / (n + 1) - 7 / (2 * (n + 2)))


def luminosities(
    inputs: InputDistributions,
    sqrt_s_gev: float,
    central_scale: str = "invariant_mass",
    orders: tuple[str, ...] = THREE_POINTS,
) -> Luminosities:
    """Build the luminosities of proton-proton collisions from NLO-evolved distributions.

    Raises InputError if the energy lies outside 7 to 14 TeV.

    Parameters
    ----------
    inputs
        Distributions at their input scale.
    sqrt_s_gev
        Energy of the collisions, 7 to 14 TeV.
    central_scale
        `invariant_mass` for Q, the mass of the pair, or `average_mass` of its particles.
    orders
        Some `VARIATIONS`.
    """
    low, high = SQRT_S_RANGE_GEV
    if not low <= sqrt_s_gev <= high:
        raise InputError(
            "physics.energy",
            least_tev=low / 1000,
            most_tev=high / 1000,
            received_tev=sqrt_s_gev / 1000,
        )
    maximum = _MAXIMUM_SHARE * sqrt_s_gev
    if central_scale == "invariant_mass":
        knots = np.geomspace(_MINIMUM_GEV, maximum, _KNOTS)
        values = np.log(_phi(inputs, knots[:, None], knots, sqrt_s_gev, orders)[:, 0])
    else:
        knots = 2 * np.geomspace(THRESHOLD_MASS_GEV, MAXIMUM_MASS_GEV, _THRESHOLD_KNOTS)
        q, _ = energies(knots, maximum, sqrt_s_gev)
        phi = _phi(inputs, q, knots / 2, sqrt_s_gev, ("lo_pb", *orders))
        values = np.concatenate([np.log(phi[..., :1]), phi[..., 1:] / phi[..., :1]], axis=-1)
    spline = CubicSpline(np.log(knots), values)
    return Luminosities(spline, sqrt_s_gev, maximum, orders, central_scale)


def _evaluate(spline: PPoly, log_q: np.ndarray) -> np.ndarray:
    """Evaluate a spline on equidistant knots; SciPy's own code supports NumPy arrays only."""
    xp = log_q.__array_namespace__()
    if xp is np:
        found: np.ndarray = spline(log_q)
        return found
    first, last, count = spline.x[0], spline.x[-1], len(spline.x) - 1
    place = xp.floor((log_q - first) / ((last - first) / count))
    piece = xp.clip(place, 0, count - 1).astype(int)
    coefficients = xp.asarray(spline.c)
    beyond = log_q - xp.asarray(spline.x)[piece]
    beyond = beyond.reshape(*beyond.shape, *(1,) * (coefficients.ndim - 2))
    value = coefficients[0][piece]
    for each in coefficients[1:]:
        value = value * beyond + each[piece]
    return value


def _phi(
    inputs: InputDistributions,
    q: np.ndarray,
    scale: np.ndarray,
    sqrt_s_gev: float,
    orders: Sequence[str],
) -> np.ndarray:
    """Return Phi at q (knot, node), with axes of up, down, charge +1 and -1, and of the order."""
    at = {
        factor: evolve(inputs, (factor * scale) ** 2, CONTOUR, loops=2)
        for factor in {VARIATIONS[order][1] for order in orders}
    }
    tau = (q / sqrt_s_gev) ** 2
    splitting = leading_order(CONTOUR, 5).singlet[0]
    found = []
    for order in orders:
        renormalised, factorised = VARIATIONS[order]
        pdfs, mu_f = at[factorised], factorised * scale
        two_a = 2 * coupling(inputs, (renormalised * scale) ** 2, loops=2)[:, None, None]
        log_ratio = 2 * np.log(q / mu_f[:, None])[..., None]
        quark = two_a * (drell_yan_quark(CONTOUR) + splitting[0] * log_ratio)
        gluon = two_a * (drell_yan_gluon(CONTOUR) + splitting[1] / (4 * 5) * log_ratio)
        neutral = (_pairs(pdfs, flavours) for flavours in (_UP_TYPE, _DOWN_TYPE))
        charged = (_charged_pairs(pdfs, charge) for charge in (1, -1))
        moments = (
            annihilation[:, None]
            if order == "lo_pb"
            else annihilation[:, None] * (1 + quark) + quark_gluon[:, None] * gluon
            for annihilation, quark_gluon in (*neutral, *charged)
        )
        found.append(np.stack([invert(each, tau) for each in moments], axis=-1))
    return np.stack(found, axis=-1)


def _pairs(pdfs: Distributions, flavours: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """Return 2 q qbar and 2 g (q + qbar), summed over the flavours of one charge."""
    plus, minus = pdfs.plus[flavours], _minus(pdfs)[flavours]
    return ((plus**2 - minus**2) / 2).sum(axis=0), 2 * (pdfs.gluon * plus).sum(axis=0)


def _charged_pairs(pdfs: Distributions, charge: int) -> tuple[np.ndarray, np.ndarray]:
    """Return 2 u dbar and 2 g (u + dbar), or their antiparticles, summed over two families."""
    quarks, antiquarks = ((pdfs.plus + sign * charge * _minus(pdfs)) / 2 for sign in (1, -1))
    up, down = quarks[_UP_PARTNERS], antiquarks[_DOWN_PARTNERS]
    return 2 * (up * down).sum(axis=0), 2 * (pdfs.gluon * (up + down)).sum(axis=0)


def _minus(pdfs: Distributions) -> np.ndarray:
    """Return q - qbar of all five flavours; it vanishes for c and b."""
    return np.concatenate([pdfs.minus, np.zeros_like(pdfs.plus[3:])])
