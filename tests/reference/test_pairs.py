"""Every pair of neutralinos against Feynman amplitudes with explicit spinors, and its limits.

The amplitudes share no formula with the engine: Dirac matrices, helicity spinors with signed
masses, v = C u-bar^T for Majorana particles, the interactions of Haber and Kane (Phys. Rept. 117
(1985) 75), the relative signs of Wick's theorem. Of the engine they use the luminosities alone.
"""

from itertools import combinations_with_replacement

import numpy as np
import pytest
from scipy.integrate import quad_vec

from nlobayes.physics.hadronic import cross_sections
from nlobayes.physics.luminosity import Luminosities, luminosities
from nlobayes.physics.mssm import Parameters, Spectrum, neutralinos
from nlobayes.physics.partonic import DOWN_TYPE, UP_TYPE, Pair, Quark, identical_pair, select_pair
from nlobayes.physics.pdf import MSTW2008_NLO
from nlobayes.physics.scans import sample_parameters
from tests.born import born_cross_section

PAIRS = [*combinations_with_replacement((1, 2, 3, 4), 2)]
UNLIKE = [pair for pair in PAIRS if pair[0] != pair[1]]
ALPHA, SIN2, Z_MASS, Z_WIDTH = 1 / 127.9, 0.2312, 91.1876, 2.4952
ONE = np.eye(2)
PAULI = np.array([[[0, 1], [1, 0]], [[0, -1j], [1j, 0]], [[1, 0], [0, -1]]])
GAMMA = np.array(
    [np.block([[0 * ONE, ONE], [ONE, 0 * ONE]])]
    + [np.block([[0 * ONE, sigma], [-sigma, 0 * ONE]]) for sigma in PAULI]
)
LEFT, RIGHT = np.diag([1, 1, 0, 0]), np.diag([0, 0, 1, 1])
METRIC, CHARGE = np.array([1, -1, -1, -1]), 1j * GAMMA[2] @ GAMMA[0]
COSINES, WEIGHTS = np.polynomial.legendre.leggauss(16)


@pytest.fixture(scope="module")
def beams() -> Luminosities:
    return luminosities(MSTW2008_NLO, 13_000.0)


@pytest.fixture(scope="module")
def scanned() -> Spectrum:
    return neutralinos(sample_parameters(5, 40))


def _spinors(mass: np.ndarray, energy: np.ndarray, momentum: np.ndarray) -> np.ndarray:
    """Solve (k-slash - m) u = 0 for m of either sign: (spin, point, cosine, component)."""
    size, slashed = np.abs(mass), np.einsum("...k,kab->...ab", momentum, PAULI)
    shifted = (energy + size)[..., None, None]
    upper, lower = ((shifted * ONE + s * slashed) / np.sqrt(2 * shifted) for s in (-1, 1))
    both = np.concatenate([upper, np.sign(mass)[..., None, None] * lower], axis=-2)
    return np.moveaxis(both, -1, 0)


def _bar(spinor: np.ndarray) -> np.ndarray:
    return spinor.conj() @ GAMMA[0]


def _squared_amplitude(pair: Pair, quark: Quark, energy: np.ndarray, squark: float) -> np.ndarray:
    """Σ |M|^2 over all helicities at (point, cosine); M = M_s - M_t + M_u."""
    e = energy[:, None] + 0 * COSINES
    m_i, m_j = (mass[:, None] + 0 * e for mass in (pair.first_mass_gev, pair.second_mass_gev))
    e_i, k = _kinematics(m_i, m_j, e)
    direction = np.stack([np.sqrt(1 - COSINES**2), 0 * COSINES, COSINES], axis=-1)
    u_i = _spinors(m_i, e_i, k[..., None] * direction)
    u_j = _spinors(m_j, e - e_i, -k[..., None] * direction)
    root = np.sqrt(e)[..., None]
    u = np.stack([root * [0, 1, 0, 0], root * [0, 0, 1, 0]])  # left, right, along z
    v = np.stack([root * [1, 0, 0, 0], root * [0, 0, 0, 1]])  # left, right, against z
    s_channel = _z_exchange(pair, quark, e, (u, v, u_i, _bar(u_j) @ CHARGE.T))
    t = m_i**2 - e * e_i + e * k * COSINES
    u_variable = m_j**2 - e * (e - e_i) - e * k * COSINES
    couplings = _squark_couplings(pair, quark)
    t_channel = _squark_exchange(couplings, (u, v, u_i, _bar(u_j) @ CHARGE.T), t - squark**2)
    u_channel = _squark_exchange(
        couplings, (u, v, u_j, _bar(u_i) @ CHARGE.T), u_variable - squark**2
    )
    amplitude = s_channel - t_channel + np.swapaxes(u_channel, 2, 3)
    return (np.abs(amplitude) ** 2).sum(axis=(0, 1, 2, 3))


def _kinematics(m_i: np.ndarray, m_j: np.ndarray, e: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    e_i = (e**2 + m_i**2 - m_j**2) / (2 * e)
    return e_i, np.sqrt(e_i**2 - m_i**2)


Spinors = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def _z_exchange(pair: Pair, quark: Quark, e: np.ndarray, spinors: Spinors) -> np.ndarray:
    u, v, outgoing, other = spinors
    left, right = quark.isospin - quark.charge * SIN2, -quark.charge * SIN2
    first, second = pair.first_mixing.T, pair.second_mixing.T
    axial = (first[3] * second[3] - first[2] * second[2])[:, None] / 2
    quarks = np.einsum("b...i,mij,a...j->abm...", _bar(v), GAMMA @ (left * LEFT + right * RIGHT), u)
    pairs = np.einsum("c...i,mij,d...j->cdm...", _bar(outgoing), GAMMA @ (LEFT - RIGHT), other)
    strength = 4 * np.pi * ALPHA / (SIN2 * (1 - SIN2)) * axial
    propagator = 1 / (e**2 - Z_MASS**2 + 1j * Z_MASS * Z_WIDTH)
    return -strength * propagator * np.einsum("abm...,m,cdm...->abcd...", quarks, METRIC, pairs)


def _squark_couplings(pair: Pair, quark: Quark) -> tuple[np.ndarray, np.ndarray]:
    tangent = np.sqrt(SIN2 / (1 - SIN2))

    def left(row: np.ndarray) -> np.ndarray:
        return quark.isospin * row[1] - tangent * (quark.isospin - quark.charge) * row[0]

    first, second = pair.first_mixing.T[..., None], pair.second_mixing.T[..., None]
    right = (tangent * quark.charge) ** 2 * first[0] * second[0]
    return left(first) * left(second), right


def _squark_exchange(
    couplings: tuple[np.ndarray, np.ndarray], spinors: Spinors, denominator: np.ndarray
) -> np.ndarray:
    u, v, outgoing, other = spinors
    total = np.zeros(())
    for coupling, near, far in zip(couplings, (LEFT, RIGHT), (RIGHT, LEFT), strict=True):
        quark = np.einsum("c...i,ij,a...j->ca...", _bar(outgoing), near, u)
        antiquark = np.einsum("b...i,ij,d...j->bd...", _bar(v), far, other)
        total = total + coupling * np.einsum("ca...,bd...->abcd...", quark, antiquark)
    return -8 * np.pi * ALPHA / SIN2 * total / denominator


def _partonic(pair: Pair, quark: Quark, energy: np.ndarray, squark: float) -> np.ndarray:
    """Mean over 4 spins and 9 colours (3 annihilate), flux 2 S, phase space k / (4 pi E)."""
    squared = _squared_amplitude(pair, quark, energy, squark) @ WEIGHTS / 2
    _, k = _kinematics(pair.first_mass_gev, pair.second_mass_gev, energy)
    return pair.symmetry * squared / 12 * k / (4 * np.pi * energy) / (2 * energy**2)


@pytest.mark.parametrize("quark", [UP_TYPE, DOWN_TYPE], ids=["up", "down"])
@pytest.mark.parametrize("squark", [2000.0, 1e7])
@pytest.mark.parametrize("numbers", PAIRS, ids=str)
def test_bilinear_charges_are_helicity_amplitudes(
    scanned: Spectrum, numbers: tuple[int, int], squark: float, quark: Quark
) -> None:
    pair = select_pair(scanned, *numbers)
    for factor in (1.01, 1.2, 2.0):
        energy = pair.threshold_gev * factor
        energy = np.minimum(energy, 1500.0).clip(1.001 * pair.threshold_gev)
        ours = born_cross_section(pair, quark, energy[:, None], squark)[:, 0]
        np.testing.assert_allclose(ours, _partonic(pair, quark, energy, squark), rtol=3e-6)


@pytest.mark.parametrize("energy_gev", [7_000.0, 13_000.0])
def test_cross_sections_of_all_pairs_are_integrals_over_tau(
    scanned: Spectrum, energy_gev: float
) -> None:
    """Adaptive quadrature of amplitudes and luminosities; ten pairs of three spectra, 2.5 TeV."""
    beams = luminosities(MSTW2008_NLO, energy_gev)
    few = Spectrum(scanned.masses_gev[:3], scanned.mixings[:3])
    chosen = [select_pair(few, *numbers) for numbers in PAIRS]
    ours = np.concatenate([cross_sections(pair, 2500.0, beams).nlo_pb for pair in chosen])
    m_i, rows_i, m_j, rows_j = (
        np.array(part) for part in zip(*(pair[:4] for pair in chosen), strict=True)
    )
    rows_i, rows_j = (rows.reshape(-1, 4) for rows in (rows_i, rows_j))
    every = Pair(m_i.ravel(), rows_i, m_j.ravel(), rows_j, 1.0)
    symmetry = np.repeat([pair.symmetry for pair in chosen], 3)
    log_start = 2 * np.log(every.threshold_gev / energy_gev)
    log_range = 2 * np.log(beams.maximum_gev / energy_gev) - log_start

    def integrand(x: float) -> np.ndarray:
        tau = np.exp(log_start + log_range * x**2)
        q = np.sqrt(tau) * energy_gev
        phi = np.exp(beams.log_phi(np.log(q)))[..., :2, 1]
        born = [_partonic(every, quark, q, 2500.0) for quark in (UP_TYPE, DOWN_TYPE)]
        return tau * log_range * 2 * x * (phi * np.transpose(born)).sum(axis=1) / ours

    ratio, _ = quad_vec(integrand, 1e-9, 1, epsrel=1e-7, norm="max")
    np.testing.assert_allclose(0.3893793721e9 * symmetry * ratio, 1, rtol=2e-5)


@pytest.mark.parametrize("numbers", UNLIKE, ids=str)
def test_the_order_of_a_pair_makes_no_difference(
    beams: Luminosities, scanned: Spectrum, numbers: tuple[int, int]
) -> None:
    i, j = numbers
    one, other = (cross_sections(select_pair(scanned, *n), 2000.0, beams) for n in ((i, j), (j, i)))
    np.testing.assert_allclose(one, other, rtol=1e-12)


def test_unlike_pairs_become_twice_a_pair_of_equals(beams: Luminosities, scanned: Spectrum) -> None:
    """As the second neutralino becomes the first, all but the factor for identical particles."""
    same = select_pair(scanned, 1, 1)
    unlike = same._replace(symmetry=1.0)
    near = unlike._replace(second_mass_gev=same.first_mass_gev * (1 + 1e-7))
    expected = 2 * np.array(cross_sections(same, 2000.0, beams))
    np.testing.assert_allclose(cross_sections(unlike, 2000.0, beams), expected, rtol=1e-14)
    np.testing.assert_allclose(cross_sections(near, 2000.0, beams), expected, rtol=1e-5)


def test_decoupled_squarks_leave_the_square_of_the_coupling_to_the_z(
    beams: Luminosities, scanned: Spectrum
) -> None:
    """At given masses, sigma(i, j) / (N_i3 N_j3 - N_i4 N_j4)^2 is one number for all mixings."""
    rows = select_pair(scanned, 1, 2)
    count = len(rows.first_mass_gev)
    for second in (180.0, -180.0):
        pair = rows._replace(
            first_mass_gev=np.full(count, 120.0), second_mass_gev=np.full(count, second)
        )
        coupling = rows.first_mixing[:, 2:] * rows.second_mixing[:, 2:] @ [1, -1]
        ratio = cross_sections(pair, np.inf, beams).nlo_pb / coupling**2
        np.testing.assert_allclose(ratio, ratio[0], rtol=1e-9)


@pytest.mark.parametrize("numbers", PAIRS, ids=str)
@pytest.mark.slow
def test_rates_grow_with_the_energy(scanned: Spectrum, numbers: tuple[int, int]) -> None:
    """At every order and scale, from 7 to 14 TeV."""
    pair = select_pair(scanned, *numbers)
    energies = (7_000.0, 8_000.0, 13_000.0, 13_600.0, 14_000.0)
    sigma = [cross_sections(pair, 2500.0, luminosities(MSTW2008_NLO, e)) for e in energies]
    assert np.all(np.diff(np.array(sigma), axis=0) > 0)


@pytest.mark.parametrize("energy_gev", [7_000.0, 14_000.0])
def test_the_heaviest_neutralinos_are_integrated_as_well_as_the_light(energy_gev: float) -> None:
    """Soft masses of 1 TeV; the last 5 % of the Q that are covered add little even at 7 TeV."""
    corner = Parameters(*np.array([[1000.0], [1000.0], [-1000.0], [2.0]]))
    pair = select_pair(neutralinos(corner), 4, 4)
    beams = luminosities(MSTW2008_NLO, energy_gev)
    q = np.geomspace(pair.threshold_gev[0] * (1 + 1e-9), beams.maximum_gev, 40_001)
    born = [born_cross_section(pair, quark, q[None], 2000.0)[0] for quark in (UP_TYPE, DOWN_TYPE)]
    density = (np.exp(beams.log_phi(np.log(q)))[..., :2, 1] * np.transpose(born)).sum(axis=1)
    log_q, weight = np.log(q), 2 * (q / energy_gev) ** 2 * density
    expected = 0.3893793721e9 * np.trapezoid(weight, log_q)
    assert cross_sections(pair, 2000.0, beams).nlo_pb[0] == pytest.approx(expected, rel=1e-5)
    last = q > 0.95 * beams.maximum_gev
    assert np.trapezoid(weight[last], log_q[last]) < 3e-4 * np.trapezoid(weight, log_q)


def test_pairs_of_equals_see_no_signs(beams: Luminosities, scanned: Spectrum) -> None:
    pair = select_pair(scanned, 3, 3)
    flipped = identical_pair(-pair.first_mass_gev, -pair.first_mixing)
    ours, expected = (cross_sections(p, 2000.0, beams) for p in (flipped, pair))
    np.testing.assert_allclose(ours, expected, rtol=1e-12)
