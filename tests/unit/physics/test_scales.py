"""Central scales, their variation at three and seven points, and electroweak schemes."""

import numpy as np
import pytest

from nlobayes.data.simulators.simulate import TARGETS, Settings, scan_table
from nlobayes.physics.couplings import SCHEMES
from nlobayes.physics.evolution import coupling, evolve
from nlobayes.physics.luminosity import (
    SEVEN_POINTS,
    THREE_POINTS,
    Luminosities,
    drell_yan_gluon,
    drell_yan_quark,
    energies,
    luminosities,
)
from nlobayes.physics.mellin import CONTOUR, invert
from nlobayes.physics.partonic import DOWN_TYPE, UP_TYPE, Pair, identical_pair
from nlobayes.physics.pdf import MSTW2008_NLO
from nlobayes.physics.splitting import leading_order
from tests.born import born_cross_section
from tests.les_houches import LES_HOUCHES_TOY

CHARGES = pytest.mark.parametrize("charge", [0, 1, -1])
ENERGIES = np.array([[150.0, 600.0, 2500.0]])


@pytest.fixture(scope="module")
def beams() -> dict[str, Luminosities]:
    return {
        scale: luminosities(MSTW2008_NLO, 13_000.0, scale, SEVEN_POINTS)
        for scale in ("invariant_mass", "average_mass")
    }


def of_orders(beams: Luminosities, charge: int, orders: tuple[str, ...]) -> np.ndarray:
    return beams.at(charge, orders, ENERGIES, ENERGIES[:, 0])


@CHARGES
def test_the_renormalisation_scale_is_that_of_the_correction_alone(
    beams: dict[str, Luminosities], charge: int
) -> None:
    """(NLO - LO) at mu_R = 2 Q over that at mu_R = Q/2 is a(2 Q) / a(Q/2) of two-loop running."""
    orders = ("lo_pb", "mu_r_half_pb", "mu_r_twice_pb")
    lo, half, twice = of_orders(beams["invariant_mass"], charge, orders)
    a = [coupling(MSTW2008_NLO, (factor * ENERGIES[0]) ** 2, loops=2) for factor in (0.5, 2.0)]
    np.testing.assert_allclose(
        (twice - lo) / (half - lo), np.broadcast_to(a[1] / a[0], lo.shape), rtol=2e-5
    )


def test_the_dependence_on_the_scale_is_of_the_next_order() -> None:
    """Phi changes between mu = Q/2 and Q by a power 1 of the coupling at LO, Q/2 and 2 Q 2 at NLO.

    At the threshold mu = Q/2 is the average mass. The coupling is 1/16 and 1/32 of the real; the
    tolerance is for the densities, which also depend on it.
    """
    threshold = np.array([1200.0, 2100.0])
    changes, strengths = [], []
    for factor in (1 / 16, 1 / 32):
        inputs = LES_HOUCHES_TOY._replace(alpha_s=factor * LES_HOUCHES_TOY.alpha_s)
        half = luminosities(inputs, 13_000.0, "average_mass", ("lo_pb",))
        whole = luminosities(inputs, 13_000.0)
        q, _ = energies(threshold, half.maximum_gev, half.sqrt_s_gev)
        (low,) = half.at(1, ("lo_pb",), q, threshold)
        lo, _, up, down = whole.at(1, THREE_POINTS, q, threshold)
        changes.append([low[0, :, 0] / lo[0, :, 0] - 1, up[0, :, 0] / down[0, :, 0] - 1])
        strengths.append(coupling(inputs, threshold**2, loops=2))
    fell, weaker = np.array(changes), np.array(strengths)
    powers = np.log(fell[0] / fell[1]) / np.log(weaker[0] / weaker[1])
    np.testing.assert_allclose(powers, [[1, 1], [2, 2]], atol=0.25)


@CHARGES
def test_at_the_threshold_the_average_mass_is_half_of_q(
    beams: dict[str, Luminosities], charge: int
) -> None:
    """The pairs of scales about it are those about Q, and others are those that share a scale."""
    threshold = np.array([120.0, 700.0, 2100.0])
    at = beams["average_mass"]
    q, _ = energies(threshold, at.maximum_gev, at.sqrt_s_gev)
    both = (each.at(charge, SEVEN_POINTS, q, threshold) for each in beams.values())
    whole, average = (each[..., 0] for each in both)
    place = SEVEN_POINTS.index
    same = {"nlo_pb": "scale_up_pb", "scale_down_pb": "nlo_pb"}
    for one, other in same.items():
        np.testing.assert_allclose(average[place(one)], whole[place(other)], rtol=2e-5)
    np.testing.assert_allclose(
        average[place("mu_f_twice_pb")], whole[place("mu_r_half_pb")], rtol=2e-5
    )


def test_rates_at_the_average_mass_are_integrals_at_a_fixed_scale(
    beams: dict[str, Luminosities],
) -> None:
    """One threshold for every Q: densities at one scale, logarithms of Q over it, by hand."""
    mass, at = 400.0, beams["average_mass"]
    (q,), _ = energies(np.array([800.0]), at.maximum_gev, at.sqrt_s_gev)
    found = at.at(1, ("nlo_pb",), q[None], np.array([800.0]))[0, 0, 0]
    pdfs = evolve(MSTW2008_NLO, np.array([mass**2]), CONTOUR, loops=2)
    minus = np.concatenate([pdfs.minus, 0 * pdfs.plus[3:]])
    quark, antiquark = ((pdfs.plus + sign * minus)[:, 0] / 2 for sign in (1, -1))
    a = coupling(MSTW2008_NLO, np.array([mass**2]), loops=2)
    splitting = leading_order(CONTOUR, 5).singlet[0, :, :]
    expected = []
    for each in q:
        log = np.log(each**2 / mass**2)
        born = 2 * (quark[0] * antiquark[1] + quark[3] * antiquark[2])
        emitted = 2 * pdfs.gluon[0] * (quark[0] + antiquark[1] + quark[3] + antiquark[2])
        corrected = born * (1 + 2 * a * (drell_yan_quark(CONTOUR) + splitting[0] * log))
        corrected += emitted * 2 * a * (drell_yan_gluon(CONTOUR) + splitting[1] / 20 * log)
        expected.append(invert(corrected[None], np.array([(each / 13_000.0) ** 2]))[0])
    largest = np.max(expected)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-9 * largest)


def test_the_g_mu_scheme_is_the_conversion_by_hand() -> None:
    """W exchange has g^4 = 32 G_F^2 m_W^4, Z exchange (g / cos)^4 (L^2 + R^2), without squarks."""
    fermi, w_mass, z_mass = 1.1663787e-5, 80.379, 91.1876
    at, energy = np.array([200.0]), np.array([[900.0]])
    wino = Pair(at, np.array([[0.0, 1, 0, 0]]), at, np.array([[1.0, 0, 1, 0]]), 1.0, "plus")
    before, after = (
        born_cross_section(wino._replace(scheme=scheme), UP_TYPE, energy, np.inf)[0, 0]
        for scheme in SCHEMES.values()
    )
    g4 = (4 * np.pi / 127.9 / 0.2312) ** 2
    assert after / before == pytest.approx(32 * fermi**2 * w_mass**4 / g4, rel=1e-12)
    higgsino = identical_pair(at, np.array([[0.0, 0, 1, 0]]))
    for quark in (UP_TYPE, DOWN_TYPE):
        before, after = (
            born_cross_section(higgsino._replace(scheme=scheme), quark, energy, np.inf)[0, 0]
            for scheme in SCHEMES.values()
        )
        charges = [
            (quark.isospin - quark.charge * s) ** 2 + (quark.charge * s) ** 2
            for s in (0.2312, 1 - w_mass**2 / z_mass**2)
        ]
        strengths = [g4 / (1 - 0.2312) ** 2, 32 * fermi**2 * z_mass**4]
        expected = strengths[1] * charges[1] / (strengths[0] * charges[0])
        assert after / before == pytest.approx(expected, rel=1e-12)


SETTINGS = Settings(sqrt_s_tev=13.0, squark_mass_gev=3000.0, process=(1000023, 1000024))


@pytest.mark.parametrize("scale", ["invariant_mass", "average_mass"])
def test_seven_points_add_columns_whose_envelope_contains_the_three(scale: str) -> None:
    """The first columns are those of three points, to the last bit."""
    settings = SETTINGS._replace(central_scale=scale)
    three = scan_table(3, 60, settings)
    seven = scan_table(3, 60, settings._replace(scale_points=7))
    assert [*seven.columns][: len(three.columns)] == [*three.columns]
    for name, values in three.columns.items():
        np.testing.assert_array_equal(seven.columns[name], values)
    added = [*seven.columns][len(three.columns) :]
    assert added == ["mu_r_half", "mu_r_twice", "mu_f_half", "mu_f_twice"]
    assert {seven.units[name] for name in added} == {"pb"}
    c = seven.columns
    assert np.all((c["mu_r_half"] > c["sigma_pb"]) & (c["sigma_pb"] > c["mu_r_twice"]))
    low, high = (
        extreme([c[name] for name in ("sigma_pb", "scale_up", "scale_down", *added)], axis=0)
        / c["sigma_pb"]
        for extreme in (np.min, np.max)
    )
    assert np.all((low > 0.94) & (high < 1.07))
    three_low, three_high = (
        extreme([c["scale_up"], c["scale_down"], c["sigma_pb"]], axis=0) / c["sigma_pb"]
        for extreme in (np.min, np.max)
    )
    assert np.all((low <= three_low) & (three_high <= high))
    assert np.any(low < three_low)
    assert np.any(three_high < high)
    mu = "Q" if scale == "invariant_mass" else "mean mass of the pair"
    assert seven.metadata["scales"].startswith(f"mu = {mu} for sigma_pb and lo_pb")
    assert "mu_f_twice" in seven.metadata["scales"]


def test_the_scheme_changes_rates_but_not_points() -> None:
    """By the square of g^2 where the W is exchanged; binos couple to squarks by tan(theta_W)."""
    one, other = (
        scan_table(3, 60, SETTINGS._replace(electroweak_scheme=scheme)) for scheme in SCHEMES
    )
    assert other.metadata["electroweak_inputs"] == (
        "G_F = 1.16638e-05 GeV^-2, m_w_gev = 80.379, m_z_gev = 91.1876: "
        "alpha = 1/132.184, sin2_theta_w = 0.223013"
    )
    for name, values in one.columns.items():
        if name in TARGETS:
            ratio = other.columns[name] / values
            assert np.median(ratio) == pytest.approx(1.00623, abs=1e-4)
        else:
            np.testing.assert_array_equal(other.columns[name], values)
