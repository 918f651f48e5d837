"""Hadronic cross sections: quadrature, limits, independence of rows, refusals."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import quad

from nlobayes.physics.hadronic import cross_sections
from nlobayes.physics.luminosity import Luminosities, _phi, luminosities
from nlobayes.physics.mssm import neutralinos
from nlobayes.physics.partonic import DOWN_TYPE, UP_TYPE, Pair, identical_pair, select_pair
from nlobayes.physics.pdf import MSTW2008_NLO
from nlobayes.physics.scans import sample_parameters
from tests.born import born_cross_section
from tests.refusals import refused


@pytest.fixture(scope="module")
def beams() -> Luminosities:
    return luminosities(MSTW2008_NLO, 13_000.0)


@pytest.fixture(scope="module")
def scanned() -> Pair:
    return select_pair(neutralinos(sample_parameters(5, 400)), 1, 1)


@pytest.mark.parametrize("mass", [50.0, 800.0])
def test_integration_agrees_with_adaptive_quadrature(beams: Luminosities, mass: float) -> None:
    pair = identical_pair(np.array([mass]), np.array([[0.98, -0.05, 0.17, -0.08]]))

    def integrand(log_q: float) -> float:
        q = np.exp(np.array([[log_q]]))
        born = [born_cross_section(pair, quark, q, 3000.0)[0, 0] for quark in (UP_TYPE, DOWN_TYPE)]
        return 2 * q[0, 0] ** 2 / 13_000**2 * np.exp(beams.log_phi(log_q))[:2, 1] @ born

    ends = np.log(2 * mass) + np.array([1e-12, 0.1, 0.5, 1.2])
    ends = [*ends, np.log(beams.maximum_gev)]
    pieces = [
        quad(integrand, start, end, epsabs=0, epsrel=1e-8)[0] for start, end in pairwise(ends)
    ]
    ours = cross_sections(pair, 3000.0, beams).nlo_pb[0]
    assert ours == pytest.approx(0.3893793721e9 * sum(pieces), rel=1e-6)


def test_heavy_squarks_leave_the_square_of_the_higgsino_asymmetry(
    beams: Luminosities, scanned: Pair
) -> None:
    """At one mass, sigma / (N13^2 - N14^2)^2 is the same number for every row."""
    rows = scanned.first_mixing
    sigma = cross_sections(identical_pair(np.full(len(rows), 200.0), rows), np.inf, beams)
    asymmetry = (rows[:, 2] ** 2 - rows[:, 3] ** 2) ** 2
    for values in sigma:
        ratio = values / asymmetry
        np.testing.assert_allclose(ratio, ratio[0], rtol=1e-11)


def test_rows_do_not_influence_each_other(beams: Luminosities, scanned: Pair) -> None:
    together = cross_sections(scanned, 3000.0, beams)
    some = identical_pair(scanned.first_mass_gev[290:300], scanned.first_mixing[290:300])
    alone = cross_sections(some, 3000.0, beams)
    for large, small in zip(together, alone, strict=True):
        np.testing.assert_allclose(large[290:300], small, rtol=1e-14)


def test_every_row_may_have_squarks_of_its_own(beams: Luminosities, scanned: Pair) -> None:
    masses = np.resize([2000.0, 3500.0, np.inf], len(scanned.first_mass_gev))
    together = np.array(cross_sections(scanned, masses, beams))
    for first, mass in enumerate(masses[:3]):
        alone = np.array(cross_sections(scanned, mass, beams))
        np.testing.assert_array_equal(together[:, first::3], alone[:, first::3])


def test_k_factors_and_scale_bands_are_those_of_neutralino_pairs(
    beams: Luminosities, scanned: Pair
) -> None:
    """K runs from 1.15 at 50 GeV to 1.28 at 800 GeV; the median scale ratios are 1.02 and 0.98."""
    lo, nlo, up, down = cross_sections(scanned, 3000.0, beams)
    assert 1.14 < np.min(nlo / lo) < np.max(nlo / lo) < 1.30
    assert np.median(up / nlo) == pytest.approx(1.021, abs=0.005)
    assert np.median(down / nlo) == pytest.approx(0.980, abs=0.005)


def test_rates_fall_with_mass_and_grow_with_energy(beams: Luminosities) -> None:
    masses = np.linspace(50, 1000, 40)
    pair = identical_pair(masses, np.tile([0.3, 0.2, 0.8, -0.48], (40, 1)))
    sigma = cross_sections(pair, 2500.0, beams).nlo_pb
    lower = cross_sections(pair, 2500.0, luminosities(MSTW2008_NLO, 8_000.0)).nlo_pb
    assert np.all(np.diff(sigma) < 0)
    assert np.all(sigma > lower)


@pytest.mark.parametrize("mass", [45.59, 2000.1, np.nan, np.inf])
def test_masses_outside_the_domain_are_refused(beams: Luminosities, mass: float) -> None:
    pair = identical_pair(np.array([100.0, mass]), np.full((2, 4), 0.5))
    with refused("physics.mass", least=pytest.approx(91.1876 / 2), most=4000):
        cross_sections(pair, 3000.0, beams)


def test_mixings_that_are_not_finite_are_refused(beams: Luminosities) -> None:
    pair = identical_pair(np.array([100.0]), np.array([[0.5, np.nan, 0.5, 0.5]]))
    with refused("physics.mixings_not_finite"):
        cross_sections(pair, 3000.0, beams)


@pytest.mark.parametrize("squark_mass", [1999.0, -3000.0, np.nan])
def test_light_squarks_are_refused(beams: Luminosities, scanned: Pair, squark_mass: float) -> None:
    with refused("physics.light_squarks", least=2000):
        cross_sections(scanned, squark_mass, beams)
    masses = np.full(len(scanned.first_mass_gev), 3000.0)
    masses[7] = squark_mass
    with refused("physics.light_squarks", least=2000):
        cross_sections(scanned, masses, beams)


def test_the_heaviest_pairs_depend_on_the_energy_and_on_the_scale() -> None:
    """4/13 of the energy, at least 2200 GeV; at the average mass no more."""
    pair = identical_pair(np.array([1500.0]), np.array([[0.1, 0.1, 0.7, -0.1]]))
    for energy, scale, most in (
        (7_000.0, "invariant_mass", 2200),
        (8_000.0, "invariant_mass", pytest.approx(8000 * 4 / 13)),
        (13_000.0, "average_mass", 2200),
    ):
        with refused("physics.mass", most=most, heaviest=3000):
            cross_sections(pair, 3000.0, luminosities(MSTW2008_NLO, energy, scale))


def test_the_range_above_the_largest_q_is_negligible() -> None:
    """For the heaviest pairs, by a finer quadrature up to 0.72 of sqrt(s)."""
    for energy, mass in ((7_000.0, 1100.0), (13_000.0, 2000.0)):
        pair = identical_pair(np.array([mass]), np.array([[0.0, 0.0, 0.8, -0.1]]))
        beams = luminosities(MSTW2008_NLO, energy)
        ours = cross_sections(pair, np.inf, beams).nlo_pb[0]
        nodes, weights = np.polynomial.legendre.leggauss(200)
        log_q = np.log(2 * mass) + np.log(0.72 * energy / (2 * mass)) * (nodes + 1) / 2
        q = np.exp(log_q)[None]
        phi = _phi(MSTW2008_NLO, q.T, q[0], energy, ("nlo_pb",))[:, 0, :2, 0]
        born = [born_cross_section(pair, quark, q, np.inf)[0] for quark in (UP_TYPE, DOWN_TYPE)]
        step = weights / 2 * np.log(0.72 * energy / (2 * mass)) * 2 * q[0] ** 2 / energy**2
        whole = 0.3893793721e9 * np.sum(step * np.sum(phi * np.array(born).T, axis=1))
        assert ours == pytest.approx(whole, rel=4e-5)
