"""Charginos against Feynman amplitudes with explicit spinors, group theory, sum rules and limits.

The amplitudes share no formula with the engine: Dirac matrices, helicity spinors with signed
masses, v = C u-bar^T, and the vertices of Haber and Kane (Phys. Rept. 117 (1985) 75). Each chargino
field creates the negative and annihilates the positive particle. Vector exchange is V V'/D, scalar
exchange -V V'/D; where the quark makes the particle of the line of the pair, Wick's theorem gives
the latter another sign, as in `test_pairs`: M = M_s - M_t + M_u.
"""

import numpy as np
import pytest
from scipy.integrate import quad

from nlobayes.physics.couplings import chargino_z_couplings, left_w_coupling, right_w_coupling
from nlobayes.physics.hadronic import cross_sections
from nlobayes.physics.luminosity import Luminosities, luminosities
from nlobayes.physics.mssm import (
    Parameters,
    chargino_mass_matrix,
    charginos,
    mass_matrix,
    neutralinos,
)
from nlobayes.physics.partonic import DOWN_TYPE, UP_TYPE, Pair, Quark, make_pair
from nlobayes.physics.pdf import MSTW2008_NLO
from nlobayes.physics.processes import make_process
from nlobayes.physics.scans import sample_parameters
from tests.born import born_cross_section
from tests.reference.test_pairs import (
    ALPHA,
    CHARGE,
    COSINES,
    GAMMA,
    LEFT,
    METRIC,
    RIGHT,
    SIN2,
    WEIGHTS,
    Z_MASS,
    Z_WIDTH,
    _bar,
    _kinematics,
    _spinors,
)
from tests.spectra import PROCESSES

W_MASS, W_WIDTH = 80.379, 2.085
MIXED = [process for process in PROCESSES if make_process(*process).charge]
CHARGINO_PAIRS = [process for process in PROCESSES if make_process(*process).of_charginos]
E = np.sqrt(4 * np.pi * ALPHA)
G = E / np.sqrt(SIN2)
TANGENT = np.sqrt(SIN2 / (1 - SIN2))


@pytest.fixture(scope="module")
def beams() -> Luminosities:
    return luminosities(MSTW2008_NLO, 13_000.0)


@pytest.fixture(scope="module")
def scanned() -> Parameters:
    return sample_parameters(5, 25, with_charginos=True)


class Momenta:
    """Spinors of a quark along z, an antiquark against it, and two particles, at every cosine."""

    def __init__(self, pair: Pair, energy: np.ndarray) -> None:
        self.e = energy[:, None] + 0 * COSINES
        m_i, m_j = (m[:, None] + 0 * self.e for m in (pair.first_mass_gev, pair.second_mass_gev))
        e_i, k = _kinematics(m_i, m_j, self.e)
        direction = np.stack([np.sqrt(1 - COSINES**2), 0 * COSINES, COSINES], axis=-1)
        self.first = _spinors(m_i, e_i, k[..., None] * direction)
        self.second = _spinors(m_j, self.e - e_i, -k[..., None] * direction)
        root = np.sqrt(self.e)[..., None]
        self.u = np.stack([root * [0, 1, 0, 0], root * [0, 0, 1, 0]])
        self.v = np.stack([root * [1, 0, 0, 0], root * [0, 0, 0, 1]])
        self.t = m_i**2 - self.e * e_i + self.e * k * COSINES
        self.u_channel = m_j**2 - self.e * (self.e - e_i) - self.e * k * COSINES

    def vector(self, near: np.ndarray, vertex: np.ndarray, far: np.ndarray) -> np.ndarray:
        """ubar gamma^mu vertex v, of two spinors by helicity: (helicity, helicity, mu, ...)."""
        return np.einsum("a...i,mij,b...j->abm...", _bar(near), GAMMA @ vertex, far)

    def scalar(self, near: np.ndarray, vertex: np.ndarray, far: np.ndarray) -> np.ndarray:
        return np.einsum("a...i,ij,b...j->ab...", _bar(near), vertex, far)


def anti(spinor: np.ndarray) -> np.ndarray:
    """v = C u-bar^T."""
    return _bar(spinor) @ CHARGE.T


def s_channel(
    momenta: Momenta, quark: np.ndarray, pairs: np.ndarray, propagator: np.ndarray
) -> np.ndarray:
    """Quarks annihilate: (antiquark, quark, particle, antiparticle, point, cosine)."""
    quarks = momenta.vector(momenta.v, quark, momenta.u)
    return np.einsum("bamp...,m,cdmp...->bacdp...", quarks, METRIC, pairs) * propagator


def currents(
    momenta: Momenta, particle: np.ndarray, antiparticle: np.ndarray, coupling: np.ndarray
) -> np.ndarray:
    """Currents of a pair whose couplings (left, right) differ from point to point."""
    left, right = (momenta.vector(particle, side, anti(antiparticle)) for side in (LEFT, RIGHT))
    return coupling[0][:, None] * left + coupling[1][:, None] * right


def chargino_amplitude(pair: Pair, quark: Quark, momenta: Momenta, squark: float) -> np.ndarray:
    """Q qbar -> chi+_i chi-_j: photon, Z, and the squark of the other isospin.

    Vertices: -e Q for the photon; (g / cos) (T3 - Q sin^2, -Q sin^2) with a minus for quarks and
    O'^L, O'^R with a plus for chi+; -g U (u chi+ d-squark) and -g V (d chi+^c u-squark).
    """
    i, j = (mixing.T for mixing in (pair.first_mixing, pair.second_mixing))
    same = 1.0 if pair.kind == "charginos" else 0.0
    left, right = (same * SIN2 - i[k] * j[k] - i[k + 1] * j[k + 1] / 2 for k in (2, 0))
    e2 = momenta.e**2
    photon = currents(momenta, momenta.first, momenta.second, -E * same * np.ones((2, len(left))))
    total = s_channel(momenta, -E * quark.charge * np.eye(4), photon, 1 / e2)
    weak = G / np.sqrt(1 - SIN2)
    z_quark = -weak * ((quark.isospin - quark.charge * SIN2) * LEFT - quark.charge * SIN2 * RIGHT)
    z_pairs = currents(momenta, momenta.first, momenta.second, weak * np.array([left, right]))
    total = total + s_channel(
        momenta, z_quark, z_pairs, 1 / (e2 - Z_MASS**2 + 1j * Z_MASS * Z_WIDTH)
    )
    if quark.isospin > 0:  # u -> chi+_i dsquark; the positive one is made by the quark
        coupling, near, far, q2 = i[0] * j[0], momenta.first, momenta.second, momenta.t
    else:  # d -> chi-_j usquark
        coupling, near, far, q2 = i[2] * j[2], momenta.second, momenta.first, momenta.u_channel
    emitted = momenta.scalar(near, LEFT, momenta.u)
    absorbed = momenta.scalar(momenta.v, RIGHT, anti(far))
    exchange = np.einsum("ca...,bd...->bacd...", emitted, absorbed)
    exchange = G**2 * coupling[:, None] * exchange / (q2 - squark**2)
    if quark.isospin > 0:
        return total + exchange
    # The line of the pair is that of chi+: exchanged, the particles anticommute once more.
    return total - np.swapaxes(exchange, 2, 3)


def mixed_amplitude(pair: Pair, momenta: Momenta, squark: float) -> np.ndarray:
    """U dbar -> chi0_i chi+_j: W, and squarks of both isospins.

    Vertices: -g / sqrt 2 for quarks; g (O^L, O^R) for chi+bar chi0; -sqrt 2 g f (q chi0 q-squark).
    """
    n, c = pair.first_mixing.T, pair.second_mixing.T
    left = n[1] * c[2] - n[3] * c[3] / np.sqrt(2)
    right = n[1] * c[0] + n[2] * c[1] / np.sqrt(2)
    f_up = n[1] / 2 + TANGENT * n[0] / 6
    f_down = -n[1] / 2 + TANGENT * n[0] / 6
    # chi+bar gamma (O) chi0: the chargino is the particle of the line, the neutralino the other.
    pairs = currents(momenta, momenta.second, momenta.first, G * np.array([left, right]))
    w = 1 / (momenta.e**2 - W_MASS**2 + 1j * W_MASS * W_WIDTH)
    total = np.swapaxes(s_channel(momenta, -G / np.sqrt(2) * LEFT, pairs, w), 2, 3)
    # u -> chi+ d-squark, then d-squark dbar -> chi0
    emitted = momenta.scalar(momenta.second, LEFT, momenta.u)
    absorbed = momenta.scalar(momenta.v, RIGHT, anti(momenta.first))
    by_down = np.einsum("da...,bc...->bacd...", emitted, absorbed) / (momenta.u_channel - squark**2)
    # u -> chi0 u-squark, then u-squark dbar -> chi+
    emitted = momenta.scalar(momenta.first, LEFT, momenta.u)
    absorbed = momenta.scalar(momenta.v, RIGHT, anti(momenta.second))
    by_up = np.einsum("ca...,bd...->bacd...", emitted, absorbed) / (momenta.t - squark**2)
    scale = np.sqrt(2) * G**2
    return (
        total + scale * (f_down * c[0])[:, None] * by_down - scale * (f_up * c[2])[:, None] * by_up
    )


def partonic(pair: Pair, quark: Quark, energy: np.ndarray, squark: float) -> np.ndarray:
    """Mean over 4 spins and 9 colours (3 annihilate), flux 2 S, phase space k / (4 pi E)."""
    momenta = Momenta(pair, energy)
    if pair.kind in ("charginos", "unlike_charginos"):
        amplitude = chargino_amplitude(pair, quark, momenta, squark)
    else:
        amplitude = mixed_amplitude(pair, momenta, squark)
    squared = (np.abs(amplitude) ** 2).sum(axis=(0, 1, 2, 3)) @ WEIGHTS / 2
    _, k = _kinematics(pair.first_mass_gev, pair.second_mass_gev, energy)
    return squared / 12 * k / (4 * np.pi * energy) / (2 * energy**2)


@pytest.mark.parametrize("squark", [2000.0, 1e7])
@pytest.mark.parametrize("process", [*MIXED[::2], *CHARGINO_PAIRS], ids=str)
def test_bilinear_charges_are_helicity_amplitudes(
    scanned: Parameters, process: tuple[int, int], squark: float
) -> None:
    pair = make_pair(scanned, make_process(*process))
    for quark in pair.quarks:
        for factor in (1.01, 1.3, 2.5):
            energy = np.minimum(pair.threshold_gev * factor, 1500.0)
            energy = energy.clip(1.001 * pair.threshold_gev)
            ours = born_cross_section(pair, quark, energy[:, None], squark)[:, 0]
            np.testing.assert_allclose(ours, partonic(pair, quark, energy, squark), rtol=1e-5)


def test_signs_of_masses_are_those_of_the_rows(scanned: Parameters) -> None:
    """A row of U or of V changes sign together with the mass, also in the amplitudes."""
    for process in ((1000022, 1000037), (1000024, -1000037)):
        pair = make_pair(scanned, make_process(*process))
        energy = 1.3 * pair.threshold_gev
        for rows in (slice(0, 2), slice(2, 4)):
            mixing = pair.second_mixing.copy()
            mixing[:, rows] *= -1
            flipped = pair._replace(second_mass_gev=-pair.second_mass_gev, second_mixing=mixing)
            for quark in pair.quarks:
                expected = partonic(pair, quark, energy, 2000.0)
                np.testing.assert_allclose(
                    partonic(flipped, quark, energy, 2000.0), expected, rtol=1e-9
                )
                ours = born_cross_section(flipped, quark, energy[:, None], 2000.0)[:, 0]
                np.testing.assert_allclose(ours, expected, rtol=1e-5)


WINO, PURE = np.array([[0.0, 1, 0, 0]]), np.array([[1.0, 0, 1, 0]])


@pytest.mark.parametrize("squark", [300.0, 2000.0, 1e7])
def test_winos_are_a_triplet_of_isospin(squark: float) -> None:
    """Far above m_Z, from q qbar of isospin 0 and 1: chi+ chi- of u ubar is half of chi0 chi+ of
    u dbar and twice chi0 chi0, up to (m_Z / Q)^2."""
    mass, energy = np.array([500.0]), np.array([[30_000.0]])
    plus = Pair(mass, WINO, mass, PURE, 1.0, "plus")
    charged = Pair(mass, PURE, mass, PURE, 1.0, "charginos")
    neutral = Pair(mass, WINO, mass, WINO, 0.5)
    expected = born_cross_section(plus, UP_TYPE, energy, squark) / 2 + 2 * born_cross_section(
        neutral, UP_TYPE, energy, squark
    )
    for quark in (UP_TYPE, DOWN_TYPE):
        ours = born_cross_section(charged, quark, energy, squark)
        np.testing.assert_allclose(ours, expected, rtol=5e-5)


def test_higgsinos_are_a_quarter_of_winos() -> None:
    """Both neutral higgsinos together couple to the W half as strongly in the amplitude squared."""
    mass, energy, half = np.array([300.0]), np.array([[1000.0]]), np.sqrt(0.5)
    chargino = np.array([[0.0, 1, 0, 1]])
    wino = born_cross_section(Pair(mass, WINO, mass, PURE, 1.0, "plus"), UP_TYPE, energy, np.inf)
    for sign in (1, -1):
        row = np.array([[0, 0, half, sign * half]])
        higgsino = Pair(-sign * mass, row, mass, chargino, 1.0, "plus")
        ours = born_cross_section(higgsino, UP_TYPE, energy, np.inf)
        np.testing.assert_allclose(ours, wino / 4, rtol=1e-12)


def test_couplings_obey_the_sum_rules_of_unitary_mixing(scanned: Parameters) -> None:
    """Over neutralinos, O^L O^L is sin^2 - O'^L of two charginos, O^R O^R with O'^R; all squares of
    all O^L or O^R sum to 3/2."""
    rows, made = neutralinos(scanned).mixings, charginos(scanned)
    both = [made.mixings[:, j].T for j in (0, 1)]
    ns = [rows[:, i].T for i in range(4)]
    left = np.array([[left_w_coupling(n, c) for c in both] for n in ns])
    right = np.array([[right_w_coupling(n, c) for c in both] for n in ns])
    for j, one in enumerate(both):
        for k, other in enumerate(both):
            of_v, of_u = chargino_z_couplings(one, other, same=j == k)
            delta = SIN2 if j == k else 0.0
            np.testing.assert_allclose((left[:, j] * left[:, k]).sum(0), delta - of_v, atol=1e-13)
            np.testing.assert_allclose((right[:, j] * right[:, k]).sum(0), delta - of_u, atol=1e-13)
    for couplings in (left, right):
        np.testing.assert_allclose((couplings**2).sum(axis=(0, 1)), 1.5, rtol=1e-12)


def test_rates_of_all_pairs_do_not_depend_on_mixing_far_above_all_masses() -> None:
    """The trace over all final states is that of winos, binos and higgsinos; squarks decoupled."""
    energy = np.array([[200_000.0]])
    points = sample_parameters(3, 6, with_charginos=True)
    energies = np.repeat(energy, 6, axis=0)
    totals = []
    for charge in (0, 1):
        pairs = [
            make_pair(points, process)
            for process in (make_process(*p) for p in PROCESSES)
            if process.charge == charge
        ]
        rates = [born_cross_section(pair, UP_TYPE, energies, np.inf)[:, 0] for pair in pairs]
        totals.append(np.sum(rates, axis=0))
    for total in totals:
        np.testing.assert_allclose(total, total[0], rtol=2e-5)
    mass = np.array([100.0])
    wino = born_cross_section(Pair(mass, WINO, mass, PURE, 1.0, "plus"), UP_TYPE, energy, np.inf)
    np.testing.assert_allclose(totals[1], 1.5 * wino[0, 0], rtol=2e-5)


def test_mass_matrices_are_diagonal_in_their_mixings(scanned: Parameters) -> None:
    made = charginos(scanned)
    left, right = made.mixings[..., :2], made.mixings[..., 2:]
    x = chargino_mass_matrix(scanned)
    diagonal = left @ x @ np.swapaxes(right, 1, 2)
    expected = made.masses_gev[:, :, None] * np.eye(2)
    np.testing.assert_allclose(diagonal, expected, atol=1e-9)
    assert np.all(np.diff(made.masses_gev) > 0)
    for rows in (left, right):
        np.testing.assert_allclose(
            rows @ np.swapaxes(rows, 1, 2), np.broadcast_to(np.eye(2), rows.shape), atol=1e-12
        )
    assert np.all(np.max(right, axis=2) >= np.sqrt(0.5) - 1e-12)
    # Tr M^2 of neutralinos less Tr X X^T of charginos: soft masses cancel up to mu^2 and M1^2.
    neutralinos = np.trace(mass_matrix(scanned) @ mass_matrix(scanned), axis1=1, axis2=2)
    squares = np.trace(x @ np.swapaxes(x, 1, 2), axis1=1, axis2=2)
    z, m1, mu = Z_MASS**2, scanned.bino_gev, scanned.higgsino_gev
    np.testing.assert_allclose(
        neutralinos - squares, m1**2 + mu**2 + 2 * z - 2 * (1 - SIN2) * z, rtol=1e-9
    )


@pytest.mark.parametrize("process", [(1000023, 1000024), (1000022, -1000037), (1000024, -1000024)])
def test_cross_sections_are_integrals_over_tau(
    beams: Luminosities, scanned: Parameters, process: tuple[int, int]
) -> None:
    """Adaptive quadrature of amplitudes and luminosities at two points."""
    points = Parameters(*(values[:2] for values in scanned))
    pair = make_pair(points, make_process(*process))
    ours = cross_sections(pair, 2500.0, beams).nlo_pb
    for row in range(2):
        one = pair.at(slice(row, row + 1))
        start = np.log(one.threshold_gev[0])

        def integrand(x: float, one: Pair = one, start: float = start) -> float:
            log_range = np.log(beams.maximum_gev) - start
            q = np.exp(start + log_range * x**2)
            at = np.array([[q]]), np.array([np.exp(start)])
            phi = beams.at(one.charge, ("nlo_pb",), *at)[0, :, 0, 0]
            born = [partonic(one, quark, np.array([q]), 2500.0)[0] for quark in one.quarks]
            return float(2 * (q / 13_000) ** 2 * log_range * 2 * x * (phi @ born))

        value, _ = quad(integrand, 1e-9, 1, epsrel=1e-6)
        assert 0.3893793721e9 * value == pytest.approx(ours[row], rel=3e-5)


def test_conjugate_pairs_of_unlike_charginos_have_one_rate(
    beams: Luminosities, scanned: Parameters
) -> None:
    one, other = (
        cross_sections(make_pair(scanned, make_process(*process)), 2500.0, beams)
        for process in ((1000024, -1000037), (-1000024, 1000037))
    )
    np.testing.assert_allclose(one, other, rtol=1e-12)


def test_there_are_more_positive_pairs_as_there_are_more_up_quarks(
    beams: Luminosities, scanned: Parameters
) -> None:
    """By a factor that rises with the mass; LO, NLO and both scales."""
    plus, minus = (
        np.array(cross_sections(make_pair(scanned, make_process(1000022, c)), 3000.0, beams))
        for c in (1000024, -1000024)
    )
    ratio = plus / minus
    assert np.all((ratio > 1.3) & (ratio < 4))
    heavy = np.argsort(make_pair(scanned, make_process(1000022, 1000024)).threshold_gev)
    assert np.all(np.diff(ratio[1][heavy[[0, 12, -1]]]) > 0)


def test_k_factors_and_scale_bands_are_those_of_neutralinos(
    beams: Luminosities, scanned: Parameters
) -> None:
    """The correction is one function of Q, so K differs by the parton densities alone."""
    for process in ((1000022, 1000024), (1000024, -1000024)):
        lo, nlo, up, down = cross_sections(
            make_pair(scanned, make_process(*process)), 3000.0, beams
        )
        assert 1.14 < np.min(nlo / lo) < np.max(nlo / lo) < 1.32
        assert np.median(up / nlo) == pytest.approx(1.02, abs=0.01)
        assert np.median(down / nlo) == pytest.approx(0.98, abs=0.01)
