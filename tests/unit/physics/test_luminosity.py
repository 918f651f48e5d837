"""Drell-Yan coefficients against their x space forms, luminosities against a convolution."""

import numpy as np
import pytest
from scipy.integrate import quad

from nlobayes.physics.evolution import evolve
from nlobayes.physics.luminosity import Luminosities, drell_yan_gluon, drell_yan_quark, luminosities
from nlobayes.physics.mellin import CONTOUR, invert
from nlobayes.physics.pdf import MSTW2008_NLO
from nlobayes.physics.splitting import CF, TR
from tests.refusals import refused


@pytest.fixture(scope="module")
def beams() -> Luminosities:
    return luminosities(MSTW2008_NLO, 13_000.0)


@pytest.mark.parametrize("n", [1.5, 2.0, 4.3])
def test_quark_coefficient_is_the_moment_of_its_x_space_form(n: float) -> None:
    def regular(z: float) -> float:
        subtracted = ((1 + z**2) * z ** (n - 1) - 2) / (1 - z) * 4 * np.log1p(-z)
        return subtracted - 2 * (1 + z**2) / (1 - z) * np.log(z) * z ** (n - 1)

    expected = CF * (quad(regular, 0, 1)[0] + 2 * np.pi**2 / 3 - 8)
    assert drell_yan_quark(np.array(n + 0j)).real == pytest.approx(expected, rel=1e-7)


@pytest.mark.parametrize("n", [1.5, 2.0, 4.3])
def test_gluon_coefficient_is_the_moment_of_its_x_space_form(n: float) -> None:
    def coefficient(z: float) -> float:
        splitting = (z**2 + (1 - z) ** 2) * (2 * np.log1p(-z) - np.log(z))
        return TR * (splitting + 1 / 2 + 3 * z - 7 / 2 * z**2) * z ** (n - 1)

    expected = quad(coefficient, 0, 1)[0]
    assert drell_yan_gluon(np.array(n + 0j)).real == pytest.approx(expected, rel=1e-7)


@pytest.mark.parametrize("energy", [7_000.0, 13_000.0, 14_000.0])
@pytest.mark.parametrize("mass", [200.0, 1500.0])
def test_leading_order_luminosities_are_convolutions_in_x(energy: float, mass: float) -> None:
    """Phi = ∫ dx/x 2 q(x) qbar(tau/x), summed over u and c, and over d, s and b."""
    beams = luminosities(MSTW2008_NLO, energy)
    tau = (mass / energy) ** 2
    log_x, weight = _panels(np.log(tau))
    x = np.exp(log_x)
    pdfs = evolve(MSTW2008_NLO, np.array([mass**2]), CONTOUR, 2)
    plus = np.array([invert(f, x) for f in pdfs.plus])
    minus = np.array([*(invert(f, x) for f in pdfs.minus), 0 * x, 0 * x])
    # The nodes are symmetric in ln x about ln(tau) / 2, so tau / x is the reversed grid.
    products = weight * (plus + minus) * (plus - minus)[:, ::-1] / 2
    per_flavour = products.sum(axis=1)
    expected = [per_flavour[[0, 3]].sum(), per_flavour[[1, 2, 4]].sum()]
    np.testing.assert_allclose(np.exp(beams.log_phi(np.log(mass)))[:2, 0], expected, rtol=2e-5)


def _panels(log_tau: float) -> tuple[np.ndarray, np.ndarray]:
    nodes, weights = np.polynomial.legendre.leggauss(400)
    margin = 0.08
    start, end = log_tau + margin, -margin
    return start + (end - start) * (nodes + 1) / 2, (end - start) * weights / 2


@pytest.mark.parametrize("mass", [100.0, 1000.0, 4000.0])
def test_corrections_raise_the_rate_and_higher_scales_lower_it_at_high_mass(
    beams: Luminosities, mass: float
) -> None:
    lo, nlo, half, twice = np.moveaxis(np.exp(beams.log_phi(np.log(mass))), -1, 0)
    assert np.all((nlo / lo > 1.05) & (nlo / lo < 1.6))
    assert np.all((half > twice) == (mass > 500))


@pytest.mark.parametrize("energy", [6_900.0, 14_100.0, np.nan, np.inf])
def test_other_energies_are_refused(energy: float) -> None:
    with refused("physics.energy", least_tev=7, most_tev=14):
        luminosities(MSTW2008_NLO, energy)
