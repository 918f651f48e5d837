"""The Born processes q qbar' -> two electroweakinos or sleptons: kinematics and total rates.

Mixings are real and masses signed. S is the squared partonic energy, x = cos theta. The processes
differ in their bilinear charges (`couplings`). Arrays may be those of NumPy or of JAX.
"""

from collections.abc import Mapping
from functools import reduce
from itertools import combinations_with_replacement
from operator import add
from typing import Any, Literal, NamedTuple

import numpy as np

from nlobayes.physics.couplings import (
    ALPHA_MZ,
    CHARGES_OF,
    DOWN_TYPE,
    UP_TYPE,
    W_MASS_GEV,
    W_WIDTH_GEV,
    Z_WIDTH_GEV,
    Charges,
    Electroweak,
    Exchanged,
    Quark,
)
from nlobayes.physics.mssm import Z_MASS_GEV, Parameters, Particle, Spectrum, charginos, neutralinos
from nlobayes.physics.processes import (
    NEUTRALINOS,
    SNEUTRINOS,
    Process,
    chirality_of,
    columns_of,
    neutralino_pair,
)

Kind = Literal[
    "neutralinos",
    "charginos",
    "unlike_charginos",
    "plus",
    "minus",
    "sleptons",
    "unlike_sleptons",
    "sneutrinos",
    "slepton_plus",
    "slepton_minus",
]
"""Kind of a pair; `plus` and `minus` are a neutralino and a chargino of that charge, `slepton_plus`
and `slepton_minus` a charged slepton and a sneutrino."""

_COSINES, _COSINE_WEIGHTS = np.polynomial.legendre.leggauss(6)


class Pair(NamedTuple):
    """Two particles per point: masses in GeV (point,), signed but for sleptons, and their mixings.

    Mixings of a neutralino (point, 4) are its row of N; those of a chargino (point, 4) are its row
    of U, then that of V; that of a slepton (point, 1) is its left part. A neutralino comes before
    a chargino. `symmetry` is 1/2 for identical particles and 1 otherwise; `scheme` has the
    electroweak couplings of the production.
    """

    first_mass_gev: np.ndarray
    first_mixing: np.ndarray
    second_mass_gev: np.ndarray
    second_mixing: np.ndarray
    symmetry: float
    kind: Kind = "neutralinos"
    scheme: Electroweak = ALPHA_MZ

    @property
    def quarks(self) -> tuple[Quark, ...]:
        """Quarks with different rates, each with an antiquark; of charged pairs the up-type one."""
        return (UP_TYPE,) if self.charge else (UP_TYPE, DOWN_TYPE)

    @property
    def charge(self) -> int:
        """Charge of the pair: 0, 1 or -1."""
        return {"plus": 1, "minus": -1}.get(self.kind.removeprefix("slepton_"), 0)

    @property
    def of_sleptons(self) -> bool:
        """Whether the particles are sleptons, which have no spin and no exchange of squarks."""
        return "slepton" in self.kind or self.kind == "sneutrinos"

    @property
    def threshold_gev(self) -> np.ndarray:
        """Smallest energy |m_i| + |m_j| in GeV, (point,)."""
        return abs(self.first_mass_gev) + abs(self.second_mass_gev)

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
    """Return the pair (i, j) of neutralinos of a spectrum, counted from 1 for the lightest."""
    return pair_of(neutralino_pair((i, j)), spectrum.particle(i), spectrum.particle(j))


def make_pair(parameters: Parameters, process: Process) -> Pair:
    """Return the particles of a process at tree level, at every point of the parameters."""
    solvers = [neutralinos if one in NEUTRALINOS else charginos for one in process]
    spectra = {solve: solve(parameters) for solve in dict.fromkeys(solvers)}
    particles = zip(solvers, process.numbers, strict=True)
    return pair_of(process, *(spectra[solve].particle(number) for solve, number in particles))


def pair_of(process: Process, first: Particle, second: Particle) -> Pair:
    """Return the particles of a process, given their masses and mixings."""
    symmetry = 0.5 if process.first == process.second else 1.0
    return Pair(*first, *second, symmetry, _kind_of(process))


def pair_at(process: Process, named: Mapping[str, np.ndarray]) -> Pair:
    """Return the particles of a process, given its columns by name, each (point,)."""
    return pair_of(process, *(_particle(number, named) for number in process))


def _particle(number: int, named: Mapping[str, np.ndarray]) -> Particle:
    """Select the mass of a particle and its mixings, as n11 to n14 of a neutralino.

    The left part of a slepton that does not mix is 1 or 0.
    """
    mass, *mixings = columns_of(number)
    xp = named[mass].__array_namespace__()
    if not mixings:
        left = xp.full_like(named[mass], "L" in chirality_of(number))
        return named[mass], left[:, None]
    return named[mass], xp.column_stack([named[name] for name in mixings])


def _kind_of(process: Process) -> Kind:
    same = process.first == -process.second
    if process.of_neutralinos:
        return "neutralinos"
    if process.of_charginos:
        return "charginos" if same else "unlike_charginos"
    if not process.of_sleptons:
        return "plus" if process.charge > 0 else "minus"
    if process.charge:
        return "slepton_plus" if process.charge > 0 else "slepton_minus"
    if process.first in SNEUTRINOS:
        return "sneutrinos"
    return "sleptons" if same else "unlike_sleptons"


def born_cross_sections(
    pair: Pair, energy_gev: np.ndarray, squark_mass_gev: float | np.ndarray
) -> np.ndarray:
    """Return total partonic cross sections in GeV^-2 (quark, exchange, point, energy).

    The quarks are those of the pair, and the exchanges add to the cross section: that of photon, Z
    or W, its interference with squarks, and that of squarks. Energies (point, energy) lie above the
    threshold. All squarks of a point share one mass, given for all points or for each (point,);
    infinity decouples them. Sleptons do not depend on it.
    """
    s, xp = energy_gev**2, energy_gev.__array_namespace__()
    mu_i = pair.first_mass_gev[:, None] / energy_gev
    mu_j = pair.second_mass_gev[:, None] / energy_gev
    phase_space = (1 - (mu_i + mu_j) ** 2) * (1 - (mu_i - mu_j) ** 2)
    velocity = xp.sqrt(phase_space)
    if pair.of_sleptons:  # (1 - x^2) velocity^2, integrated over x
        angular: dict[str, tuple[Any, ...]] = {"": (4 / 3 * phase_space, 0.0, 0.0)}
    else:
        flat, masses = 1 - (mu_i**2 - mu_j**2) ** 2, 4 * mu_i * mu_j
        squares = pair.first_mass_gev**2 + pair.second_mass_gev**2
        offset = squares / 2 - xp.broadcast_to(squark_mass_gev, squares.shape) ** 2
        moments = _moments(s, velocity, offset[:, None])
        angular = {
            channels: (flat * even + phase_space * second, masses * even, 2 * velocity * odd)
            for channels, (even, odd, second) in moments.items()
        }
    bosons = {"z": _boson(s, Z_MASS_GEV, Z_WIDTH_GEV), "w": _boson(s, W_MASS_GEV, W_WIDTH_GEV)}
    mixings = (pair.first_mixing.T, pair.second_mixing.T)
    charges = (CHARGES_OF[pair.kind](*mixings, quark, pair.scheme) for quark in pair.quarks)
    rates = [xp.stack(_by_squarks(each, bosons, angular)) for each in charges]
    return np.pi * pair.scheme.alpha**2 * velocity / (6 * s) * pair.symmetry * xp.stack(rates)


def _boson(s: np.ndarray, mass: float, width: float) -> tuple[Any, Any]:
    """Return real and imaginary part of S over the denominator of a boson (point, energy)."""
    near, far = s - mass**2, mass * width
    scale = s / (near**2 + far**2)
    return scale * near, -scale * far


def _moments(s: np.ndarray, velocity: np.ndarray, offset: np.ndarray) -> dict[str, tuple[Any, ...]]:
    """Integrate products of squark propagators over x, times 1, x and x^2 (point, energy).

    The propagator of the u channel is that of the t channel at -x, so x > 0 is sufficient.
    """
    x, weights = (values[values.size // 2 :, None, None] for values in (_COSINES, _COSINE_WEIGHTS))
    t, u = (s / (offset - s * (1 - sign * velocity * x) / 2) for sign in (1, -1))
    squares = t * t, u * u

    def integrals(here: Any, there: Any) -> tuple[Any, ...]:
        both = weights * (here + there)
        odd = weights * x * (here - there)
        return both.sum(axis=0), odd.sum(axis=0), (x**2 * both).sum(axis=0)

    return {
        "": (2.0, 0.0, 2 / 3),
        "t": integrals(t, u),
        "u": integrals(u, t),
        "tt": integrals(*squares),
        "tu": integrals(t * u, t * u),
        "uu": integrals(*squares[::-1]),
    }


def _by_squarks(
    charges: Exchanged, bosons: dict[str, tuple[Any, Any]], angular: dict[str, tuple[Any, ...]]
) -> list[Any]:
    """Sum the products of two exchanges, without squarks, with one and with two (point, energy).

    `angular` has the factors of the quartic charges by the channels of the squarks.
    """
    sums: list[Any] = [0 * bosons["z"][0]] * 3
    for one, other in combinations_with_replacement(charges, 2):
        channels = "".join(name for name in (one, other) if name in ("t", "u"))
        (real, imaginary), conjugate = (bosons.get(name, (1.0, 0.0)) for name in (one, other))
        propagators = real * conjugate[0] + imaginary * conjugate[1]
        quartic = _quartic_charges(charges[one], charges[other])
        terms = (q[:, None] * each for q, each in zip(quartic, angular[channels], strict=True))
        twice = 1 if one == other else 2
        sums[len(channels)] = sums[len(channels)] + twice * propagators * reduce(add, terms)
    return sums


def _quartic_charges(one: Charges, other: Charges) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return Q1, Q2 and Q3 as symmetric bilinear forms of the charges of two exchanges."""
    same = one.rr * other.rr + one.ll * other.ll
    opposite = one.rl * other.rl + one.lr * other.lr
    mixed = one.rr * other.rl + one.rl * other.rr + one.ll * other.lr + one.lr * other.ll
    return (same + opposite) / 4, mixed / 4, (same - opposite) / 4
