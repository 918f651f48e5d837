"""The Born processes q qbar' -> two electroweakinos: kinematics and the total partonic rate.

Mixings are real and masses signed. S is the squared partonic energy, x = cos theta. The processes
differ in their bilinear charges (`charges`).
"""

from functools import reduce
from operator import add
from typing import Literal, NamedTuple

import numpy as np

from nlobayes.data.physics.charges import BY_KIND, Channels, Charges, in_real_parts
from nlobayes.data.physics.couplings import ALPHA, DOWN_TYPE, UP_TYPE, Quark
from nlobayes.data.physics.mssm import Charginos, Parameters, Spectrum, charginos, spectrum
from nlobayes.data.processes import Process
from nlobayes.errors import InputError

Kind = Literal["neutralinos", "charginos", "unlike_charginos", "plus", "minus"]
"""Kind of a pair; `plus` and `minus` are a neutralino and a chargino of that charge."""

Particle = tuple[np.ndarray, np.ndarray]
"""Signed masses in GeV (point,), and mixings (point, 4) as `Pair` has them."""

_COSINES, _COSINE_WEIGHTS = np.polynomial.legendre.leggauss(6)


class Pair(NamedTuple):
    """Two particles per point: signed masses in GeV (point,), their mixings (point, 4).

    Mixings of a neutralino are its row of N; mixings of a chargino are its row of U, then that of
    V. A neutralino comes before a chargino. `symmetry` is 1/2 for identical particles and 1
    otherwise.
    """

    first_mass_gev: np.ndarray
    first_mixing: np.ndarray
    second_mass_gev: np.ndarray
    second_mixing: np.ndarray
    symmetry: float
    kind: Kind = "neutralinos"

    @property
    def quarks(self) -> tuple[Quark, ...]:
        """Quarks with different rates, each with an antiquark; of charged pairs the up-type one."""
        return (UP_TYPE,) if self.kind in ("plus", "minus") else (UP_TYPE, DOWN_TYPE)

    def at(self, rows: slice | np.ndarray) -> "Pair":
        """Select some points."""
        return self._replace(
            first_mass_gev=self.first_mass_gev[rows],
            first_mixing=self.first_mixing[rows],
            second_mass_gev=self.second_mass_gev[rows],
            second_mixing=self.second_mixing[rows],
        )


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
    first, second = (_neutralino(spectrum, number) for number in (i, j))
    return Pair(*first, *second, symmetry=0.5 if i == j else 1.0)


def make_pair(parameters: Parameters, process: Process) -> Pair:
    """Return the particles of a process at tree level, at every point of the parameters."""
    i, j = process.numbers
    if process.of_neutralinos:
        return select_pair(spectrum(parameters), i, j)
    made = charginos(parameters)
    if process.of_charginos:
        return pair_of(process, _chargino(made, i), _chargino(made, j))
    return pair_of(process, _neutralino(spectrum(parameters), i), _chargino(made, j))


def pair_of(process: Process, first: Particle, second: Particle) -> Pair:
    """Return the particles of a process, given their masses and mixings."""
    symmetry = 0.5 if process.first == process.second else 1.0
    return Pair(*first, *second, symmetry, _kind_of(process))


def threshold_gev(pair: Pair) -> np.ndarray:
    """Return |m_i| + |m_j| in GeV, (point,)."""
    return abs(pair.first_mass_gev) + abs(pair.second_mass_gev)


def born_cross_section(
    pair: Pair, quark: Quark, energy_gev: np.ndarray, squark_mass_gev: float | np.ndarray
) -> np.ndarray:
    """Return the total partonic cross section in GeV^-2 at energies (point, energy).

    The energies lie above `threshold_gev`. All squarks of a point share one mass, given for all
    points or for each (point,); infinity decouples them. Arrays may be those of NumPy or of JAX.
    """
    s = energy_gev[..., None] ** 2
    mu_i = _column(pair.first_mass_gev) / energy_gev[..., None]
    mu_j = _column(pair.second_mass_gev) / energy_gev[..., None]
    phase_space = (1 - (mu_i + mu_j) ** 2) * (1 - (mu_i - mu_j) ** 2)
    velocity = energy_gev.__array_namespace__().sqrt(phase_space)
    parts = _bilinear_charges(pair, quark, s, velocity * _COSINES, squark_mass_gev)
    q1, q2, q3 = (reduce(add, terms) for terms in zip(*map(_quartic_charges, parts), strict=True))
    angular = (
        (1 - (mu_i**2 - mu_j**2) ** 2 + phase_space * _COSINES**2) * q1
        + 4 * mu_i * mu_j * q2
        + 2 * velocity * _COSINES * q3
    )
    flux = np.pi * ALPHA**2 * velocity / (6 * s) * pair.symmetry
    return (flux * angular * _COSINE_WEIGHTS).sum(axis=-1)


def _kind_of(process: Process) -> Kind:
    if process.of_neutralinos:
        return "neutralinos"
    if process.of_charginos:
        return "charginos" if process.first == -process.second else "unlike_charginos"
    return "plus" if process.charge > 0 else "minus"


def _neutralino(spectrum: Spectrum, number: int) -> Particle:
    return spectrum.masses_gev[:, number - 1], spectrum.mixings[:, number - 1]


def _chargino(made: Charginos, number: int) -> Particle:
    rows = (made.left[:, number - 1], made.right[:, number - 1])
    return made.masses_gev[:, number - 1], np.concatenate(rows, axis=-1)


def _bilinear_charges(
    pair: Pair,
    quark: Quark,
    s: np.ndarray,
    boosted_cosine: np.ndarray,
    squark_mass_gev: float | np.ndarray,
) -> tuple[Charges, ...]:
    """Return the charges, or their real and imaginary parts if arrays are not those of NumPy."""
    squares, xp = pair.first_mass_gev**2 + pair.second_mass_gev**2, s.__array_namespace__()
    offset = _column(squares) / 2 - _column(xp.broadcast_to(squark_mass_gev, squares.shape)) ** 2
    t_channel = s / (offset - s * (1 - boosted_cosine) / 2)
    u_channel = s / (offset - s * (1 + boosted_cosine) / 2)
    channels = Channels(s, t_channel, u_channel)
    given = pair.first_mixing.T, pair.second_mixing.T, quark, channels
    return (BY_KIND[pair.kind](*given),) if xp is np else in_real_parts(pair.kind, *given)


def _quartic_charges(c: Charges) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    same, opposite = _square(c.rr) + _square(c.ll), _square(c.rl) + _square(c.lr)
    interference = (c.rr * c.rl.conj() + c.ll * c.lr.conj()).real
    return (same + opposite) / 4, interference / 2, (same - opposite) / 4


def _square(amplitude: np.ndarray) -> np.ndarray:
    return amplitude.real**2 + amplitude.imag**2


def _column(values: np.ndarray) -> np.ndarray:
    """Shape values per point for the axes (point, energy, cosine)."""
    return values[:, None, None]
