"""Calibration measures on synthetic data whose coverage is known."""

import numpy as np
import pytest
from scipy import stats

from nlobayes.assessment.calibration import (
    calibration,
    coverage_table,
    kolmogorov_smirnov_distance,
    standardised_residuals,
    wilson_interval,
)
from nlobayes.assessment.noise import PredictiveNoise, make_noise
from nlobayes.errors import InputError

POINTS = 4000
NOISE_SD = 0.02
EPISTEMIC_SD = 0.01


@pytest.fixture(scope="module")
def split() -> tuple[np.ndarray, np.ndarray]:
    """Draws exchangeable with the truth, observed with Gaussian noise."""
    rng = np.random.default_rng(1)
    centre = rng.normal(size=POINTS)
    draws = centre + EPISTEMIC_SD * rng.normal(size=(400, POINTS))
    truth = centre + EPISTEMIC_SD * rng.normal(size=POINTS)
    return draws, truth + NOISE_SD * rng.normal(size=POINTS)


def binomial_tolerance(nominal: float) -> float:
    """Four standard errors, and half a per mille for the finite number of draws."""
    return 4 * np.sqrt(nominal * (1 - nominal) / POINTS) + 5e-4


@pytest.mark.statistical
def test_right_noise_is_calibrated(split: tuple[np.ndarray, np.ndarray]) -> None:
    result = calibration(*split, make_noise("gaussian", NOISE_SD))
    assert result["sigma_z_total"] == pytest.approx(1.0, abs=4 / np.sqrt(2 * POINTS))
    expected_epistemic = np.hypot(NOISE_SD, EPISTEMIC_SD) / EPISTEMIC_SD
    assert result["sigma_z_epistemic"] == pytest.approx(expected_epistemic, rel=0.05)
    for k in range(1, 6):
        nominal = 2 * stats.norm.cdf(k) - 1
        assert result[f"coverage_k{k}"] == pytest.approx(nominal, abs=binomial_tolerance(nominal))
        narrow = 2 * stats.norm.cdf(k / expected_epistemic) - 1
        assert result[f"coverage_k{k}_epistemic"] == pytest.approx(narrow, abs=0.03)
    for name, level in (("coverage_68", 0.68), ("coverage_95", 0.95), ("coverage_99_7", 0.997)):
        assert result[name] == pytest.approx(level, abs=binomial_tolerance(level))
    assert result["pit_ks"] < stats.kstwo.isf(1e-3, POINTS)


@pytest.mark.statistical
@pytest.mark.parametrize("factor", [0.5, 2.0])
def test_wrong_noise_is_seen(factor: float) -> None:
    """One draw: halved noise gives sigma_z = 2, doubled noise 1/2, and coverages to match."""
    observed = NOISE_SD * np.random.default_rng(2).normal(size=POINTS)
    result = calibration(np.zeros((1, POINTS)), observed, make_noise("gaussian", factor * NOISE_SD))
    assert result["sigma_z_total"] == pytest.approx(1 / factor, rel=0.05)
    nominal = 2 * stats.norm.cdf(factor) - 1
    assert result["coverage_k1"] == pytest.approx(nominal, abs=binomial_tolerance(nominal))
    half_width = stats.norm.isf(0.025)
    central = 2 * stats.norm.cdf(factor * half_width) - 1
    assert result["coverage_95"] == pytest.approx(central, abs=binomial_tolerance(central))
    assert result["pit_ks"] is not None
    assert result["pit_ks"] > stats.kstwo.isf(1e-6, POINTS)


@pytest.mark.statistical
def test_central_intervals_of_a_student_t_mixture() -> None:
    """Two draws far apart: central intervals hold where a moment-matched Gaussian fails."""
    rng = np.random.default_rng(3)
    observed = rng.choice([-1.0, 1.0], POINTS) + 0.1 * rng.standard_t(4, POINTS)
    draws = np.repeat([[-1.0], [1.0]], POINTS, axis=1)
    result = calibration(draws, observed, make_noise("student_t", 0.1))
    assert result["coverage_68"] == pytest.approx(0.68, abs=binomial_tolerance(0.68))
    assert result["coverage_95"] == pytest.approx(0.95, abs=binomial_tolerance(0.95))
    assert result["coverage_k2"] == pytest.approx(1.0, abs=0.01)


def test_single_draw_has_no_epistemic_calibration() -> None:
    result = calibration(np.zeros((1, 3)), np.array([0.1, -0.2, 0.0]), make_noise("gaussian", 0.1))
    assert result["sigma_z_epistemic"] is None
    assert result["coverage_k1_epistemic"] == pytest.approx(1 / 3)
    assert all(np.isfinite(value) for value in result.values() if value is not None)


def test_one_point_without_spread_leaves_epistemic_calibration_undefined() -> None:
    draws = np.array([[0.0, 0.1], [0.0, 0.3]])
    result = calibration(draws, np.array([0.0, 0.2]), make_noise("gaussian", 0.1))
    assert result["sigma_z_epistemic"] is None


def test_standardised_residuals_by_hand() -> None:
    z = standardised_residuals(np.array([1.0, 2.0]), np.array([0.0, 2.0]), np.array([0.5, 0.0]))
    np.testing.assert_array_equal(z, [2.0, np.nan])


@pytest.mark.parametrize(("a", "b"), [(1.2, 0.9), (0.9, 1.2)])
def test_ks_distance_matches_scipy(a: float, b: float) -> None:
    pit = np.random.default_rng(4).beta(a, b, 137)
    expected = stats.kstest(pit, "uniform").statistic
    assert kolmogorov_smirnov_distance(pit) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("hits", [0, 3, 27, 40])
def test_wilson_interval_matches_scipy(hits: int) -> None:
    expected = stats.binomtest(hits, 40).proportion_ci(2 * stats.norm.cdf(1) - 1, "wilson")
    np.testing.assert_allclose(wilson_interval(np.array(hits / 40), 40), expected, atol=1e-12)


def test_coverage_table_agrees_with_calibration(split: tuple[np.ndarray, np.ndarray]) -> None:
    noise = PredictiveNoise("student_t", 0.01, 4.0)
    table = coverage_table(*split, noise, k=np.array([0.5, 1, 2, 3]))
    result = calibration(*split, noise)
    assert list(table) == ["k", "nominal", "epistemic", "total", "lower", "upper"]
    np.testing.assert_allclose(table["nominal"], 2 * stats.norm.cdf(table["k"]) - 1)
    assert table["total"][1:].tolist() == [result[f"coverage_k{k}"] for k in (1, 2, 3)]
    assert table["epistemic"][1] == result["coverage_k1_epistemic"]
    assert np.all((table["lower"] < table["total"]) & (table["total"] < table["upper"]))


def test_refuses_points_that_do_not_match() -> None:
    with pytest.raises(InputError, match="same points"):
        calibration(np.zeros((2, 3)), np.zeros(4), make_noise("gaussian", 0.1))
