"""Parton luminosities with the NLO QCD correction of a colour-neutral final state.

A pair of mass Q that a vector or axial current produces has the QCD correction of a Drell-Yan pair,
a function of Q alone: sigma = ∫ dtau Σ_q Phi_q(tau) sigmahat_q(Q), tau = Q^2 / s.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
from scipy.interpolate import CubicSpline, PPoly

from nlobayes.data.physics.evolution import Distributions, coupling, evolve
from nlobayes.data.physics.mellin import CONTOUR, hurwitz_zeta, invert, s1, s2
from nlobayes.data.physics.pdf import InputDistributions
from nlobayes.data.physics.splitting import CF, TR, leading_order
from nlobayes.errors import InputError

SQRT_S_RANGE_GEV = (7000.0, 14000.0)

CHARGES = ("plus", "minus")
"""Kinds of charged pairs, in the order of the luminosities."""

_MINIMUM_GEV = 60.0
# Above this share of sqrt(s), 8.5 of 13 TeV, the luminosities are negligible.
_MAXIMUM_SHARE = 8.5 / 13
_KNOTS = 120
_UP_TYPE, _DOWN_TYPE = [0, 3], [1, 2, 4]
# The CKM matrix is diagonal, as in Prospino and Resummino: the W couples u to d, and c to s.
_UP_PARTNERS, _DOWN_PARTNERS = [0, 3], [1, 2]


class Luminosities(NamedTuple):
    """Splines of ln Phi over ln Q, for neutral pairs and for pairs of charge +1 and -1.

    Values of `log_phi` have the axes (quark: up-type, down-type) and (LO at mu = Q, NLO at mu = Q,
    Q/2, 2Q); `log_phi_charged` likewise, with the charges +1, -1 in place of the quarks.
    """

    log_phi: CubicSpline
    sqrt_s_gev: float
    maximum_gev: float
    log_phi_charged: CubicSpline

    def of(self, kind: str, orders: Sequence[int]) -> Callable[[np.ndarray], np.ndarray]:
        """Return ln Phi of a kind of pair, `plus`, `minus` or a neutral one, at some orders."""
        whole = self.log_phi_charged if kind in CHARGES else self.log_phi
        rows = [CHARGES.index(kind)] if kind in CHARGES else [0, 1]
        return partial(_evaluate, PPoly(whole.c[:, :, rows][..., orders], whole.x))


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


def luminosities(inputs: InputDistributions, sqrt_s_gev: float) -> Luminosities:
    """Build the luminosities of proton-proton collisions from NLO-evolved distributions.

    Raises
    ------
    InputError
        If the energy lies outside 7 to 14 TeV.
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
    q = np.geomspace(_MINIMUM_GEV, maximum, _KNOTS)
    lo, nlo = _phi(inputs, q, 1.0, sqrt_s_gev)
    varied = [_phi(inputs, q, factor, sqrt_s_gev)[1] for factor in (0.5, 2.0)]
    phi = np.stack([lo, nlo, *varied], axis=-1)
    neutral, charged = (CubicSpline(np.log(q), np.log(part)) for part in (phi[:, :2], phi[:, 2:]))
    return Luminosities(neutral, sqrt_s_gev, maximum, charged)


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
    beyond = (log_q - xp.asarray(spline.x)[piece])[..., None, None]
    value = coefficients[0][piece]
    for each in coefficients[1:]:
        value = value * beyond + each[piece]
    return value


def _phi(
    inputs: InputDistributions, q: np.ndarray, scale_factor: float, sqrt_s_gev: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return LO and NLO Phi at mu = scale_factor Q, each (q, up-type, down-type, charge +1, -1)."""
    scale = (scale_factor * q) ** 2
    pdfs = evolve(inputs, scale, CONTOUR, loops=2)
    two_a = 2 * coupling(inputs, scale, loops=2)[:, None]
    log_ratio = -2 * np.log(scale_factor)
    splitting = leading_order(CONTOUR, 5).singlet[0]
    quark = two_a * (drell_yan_quark(CONTOUR) + splitting[0] * log_ratio)
    gluon = two_a * (drell_yan_gluon(CONTOUR) + splitting[1] / (4 * 5) * log_ratio)
    lo, nlo = [], []
    neutral = (_pairs(pdfs, flavours) for flavours in (_UP_TYPE, _DOWN_TYPE))
    charged = (_charged_pairs(pdfs, charge) for charge in (1, -1))
    for annihilation, quark_gluon in (*neutral, *charged):
        lo.append(annihilation)
        nlo.append(annihilation * (1 + quark) + quark_gluon * gluon)
    tau = (q / sqrt_s_gev) ** 2
    return invert(np.stack(lo, axis=1), tau[:, None]), invert(np.stack(nlo, axis=1), tau[:, None])


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
