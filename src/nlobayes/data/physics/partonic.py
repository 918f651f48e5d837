"""The Born process q qbar -> neutralino_i neutralino_j with Z, t- and u-channel squark exchange.

Bilinear charges as used for e+ e- (S. Y. Choi et al.), for real mixings and signed masses; S is the
squared partonic energy, x = cos theta. Equivalent to Beenakker et al. (hep-ph/9906298).
"""

from typing import NamedTuple

import numpy as np

from nlobayes.data.physics.mssm import SIN2_THETA_W, Z_MASS_GEV, Spectrum
from nlobayes.errors import InputError

ALPHA = 1 / 127.9
Z_WIDTH_GEV = 2.4952
COS2_THETA_W = 1 - SIN2_THETA_W
TAN_THETA_W = np.sqrt(SIN2_THETA_W / COS2_THETA_W)

_COSINES, _COSINE_WEIGHTS = np.polynomial.legendre.leggauss(6)


class Quark(NamedTuple):
    """Weak isospin and electric charge."""

    isospin: float
    charge: float


UP_TYPE = Quark(1 / 2, 2 / 3)
DOWN_TYPE = Quark(-1 / 2, -1 / 3)


class Pair(NamedTuple):
    """Two neutralinos per point: signed masses in GeV (point,), rows of N (point, 4).

    `symmetry` is 1/2 for identical particles and 1 otherwise.
    """

    first_mass_gev: np.ndarray
    first_mixing: np.ndarray
    second_mass_gev: np.ndarray
    second_mixing: np.ndarray
    symmetry: float


class _Charges(NamedTuple):
    """Bilinear charges by chirality of the (quark, neutralino) current, (point, energy, cosine)."""

    ll: np.ndarray
    lr: np.ndarray
    rl: np.ndarray
    rr: np.ndarray


def identical_pair(mass_gev: np.ndarray, mixing: np.ndarray) -> Pair:
    """Return the pair of one neutralino with itself; mass (point,), mixing (point, 4)."""
    return Pair(mass_gev, mixing, mass_gev, mixing, 0.5)


def select_pair(spectrum: Spectrum, i: int, j: int) -> Pair:
    """Return the pair (i, j) of a spectrum, counted from 1 for the lightest.

    Raises
    ------
    InputError
        If i or j is not 1, 2, 3 or 4.
    """
    if not {i, j} <= {1, 2, 3, 4}:
        raise InputError("physics.no_neutralino", pair=(i, j))
    first, second = ((spectrum.masses_gev[:, k - 1], spectrum.mixings[:, k - 1]) for k in (i, j))
    return Pair(*first, *second, symmetry=0.5 if i == j else 1.0)


def threshold_gev(pair: Pair) -> np.ndarray:
    """Return |m_i| + |m_j| in GeV, (point,)."""
    return np.abs(pair.first_mass_gev) + np.abs(pair.second_mass_gev)


def born_cross_section(
    pair: Pair, quark: Quark, energy_gev: np.ndarray, squark_mass_gev: float | np.ndarray
) -> np.ndarray:
    """Return the total partonic cross section in GeV^-2 at energies (point, energy).

    The energies lie above `threshold_gev`; all squarks of a point share one mass, given for all
    points or for each (point,), and infinity decouples them.
    """
    s = energy_gev[..., None] ** 2
    mu_i = _column(pair.first_mass_gev) / energy_gev[..., None]
    mu_j = _column(pair.second_mass_gev) / energy_gev[..., None]
    phase_space = (1 - (mu_i + mu_j) ** 2) * (1 - (mu_i - mu_j) ** 2)
    velocity = np.sqrt(phase_space)
    charges = _bilinear_charges(pair, quark, s, velocity * _COSINES, squark_mass_gev)
    q1, q2, q3 = _quartic_charges(charges)
    angular = (
        (1 - (mu_i**2 - mu_j**2) ** 2 + phase_space * _COSINES**2) * q1
        + 4 * mu_i * mu_j * q2
        + 2 * velocity * _COSINES * q3
    )
    flux = np.pi * ALPHA**2 * velocity / (6 * s) * pair.symmetry
    return (flux * angular * _COSINE_WEIGHTS).sum(axis=-1)


def _bilinear_charges(
    pair: Pair,
    quark: Quark,
    s: np.ndarray,
    boosted_cosine: np.ndarray,
    squark_mass_gev: float | np.ndarray,
) -> _Charges:
    first, second = pair.first_mixing.T, pair.second_mixing.T
    coupling = (first[2] * second[2] - first[3] * second[3]) / (2 * SIN2_THETA_W * COS2_THETA_W)
    z = _column(coupling) * s / (s - Z_MASS_GEV**2 + 1j * Z_MASS_GEV * Z_WIDTH_GEV)
    z_left = (quark.isospin - quark.charge * SIN2_THETA_W) * z
    z_right = -quark.charge * SIN2_THETA_W * z
    left = _column(_left_coupling(first, quark) * _left_coupling(second, quark) / SIN2_THETA_W)
    right = _column(_right_coupling(first, quark) * _right_coupling(second, quark) / SIN2_THETA_W)
    squares = pair.first_mass_gev**2 + pair.second_mass_gev**2
    offset = _column(squares) / 2 - _column(np.broadcast_to(squark_mass_gev, squares.shape)) ** 2
    t_channel = s / (offset - s * (1 - boosted_cosine) / 2)
    u_channel = s / (offset - s * (1 + boosted_cosine) / 2)
    return _Charges(
        ll=z_left - u_channel * left,
        lr=-z_left + t_channel * left,
        rl=z_right + t_channel * right,
        rr=-z_right - u_channel * right,
    )


def _left_coupling(mixing: np.ndarray, quark: Quark) -> np.ndarray:
    hypercharge = quark.charge - quark.isospin
    return quark.isospin * mixing[1] + TAN_THETA_W * hypercharge * mixing[0]


def _right_coupling(mixing: np.ndarray, quark: Quark) -> np.ndarray:
    return TAN_THETA_W * quark.charge * mixing[0]


def _quartic_charges(c: _Charges) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    same, opposite = _square(c.rr) + _square(c.ll), _square(c.rl) + _square(c.lr)
    interference = (c.rr * c.rl.conj() + c.ll * c.lr.conj()).real
    return (same + opposite) / 4, interference / 2, (same - opposite) / 4


def _square(amplitude: np.ndarray) -> np.ndarray:
    return amplitude.real**2 + amplitude.imag**2


def _column(values: np.ndarray) -> np.ndarray:
    """Shape values per point for the axes (point, energy, cosine)."""
    return values[:, None, None]
