"""Calibration measures on synthetic data whose coverage is known."""

import numpy as np
import pytest
from scipy import stats

from nlobayes.evaluation.calibration.calibration import (
    OwnCoverage,
    calibration,
    coverage_table,
    kolmogorov_smirnov_distance,
    level_table,
    own_coverage,
    pit_table,
    share_within,
    spread_error,
    standardised_residuals,
    wilson_interval,
)
from nlobayes.evaluation.calibration.ecdf_band import ecdf_band
from nlobayes.evaluation.predictive.predictive_density import predictive_cdf, predictive_moments
from tests.unit.evaluation.noises import make_noise

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


@pytest.mark.statistical
def test_pulls_are_standard_within_their_errors(split: tuple[np.ndarray, np.ndarray]) -> None:
    """Four of the reported standard errors, which are those of 4000 standard Gaussians to 10 %."""
    result = calibration(*split, make_noise("gaussian", NOISE_SD))
    values = {name: value for name, value in result.items() if isinstance(value, float)}
    errors = {"sigma_z_total": 1 / np.sqrt(2), "mean_z_total": 1.0, "chi2_per_point": np.sqrt(2)}
    for name, expected in errors.items():
        error = values[f"{name}_se"]
        assert error == pytest.approx(expected / np.sqrt(POINTS), rel=0.1)
        centre = 0 if name == "mean_z_total" else 1
        assert values[name] == pytest.approx(centre, abs=4 * error)


@pytest.mark.statistical
@pytest.mark.parametrize("heavy", [False, True])
def test_error_of_the_spread_is_its_scatter_over_samples(heavy: bool) -> None:
    """2000 samples of 400: the scatter is known to 2 %, the tolerance is 10 %."""
    rng = np.random.default_rng(6)
    shape = (2000, 400)
    samples = rng.standard_t(10, shape) if heavy else rng.normal(size=shape)
    reported = np.mean([spread_error(sample) for sample in samples])
    assert reported == pytest.approx(samples.std(axis=1).std(), rel=0.1)


def test_pulls_by_hand() -> None:
    """Noise 0.5 about zero: z = 1, -3."""
    result = calibration(np.zeros((1, 2)), np.array([0.5, -1.5]), make_noise("gaussian", 0.5))
    assert result["mean_z_total"] == pytest.approx(-1.0)
    assert result["sigma_z_total"] == pytest.approx(2.0)
    assert result["chi2_per_point"] == pytest.approx(5.0)
    assert result["mean_z_total_se"] == pytest.approx(2 / np.sqrt(2))
    assert result["chi2_per_point_se"] == pytest.approx(4 / np.sqrt(2))
    assert result["sigma_z_total_se"] == pytest.approx(0.0)


def test_a_shift_shows_in_the_mean_and_in_chi2_alone() -> None:
    observed = 0.5 + np.random.default_rng(7).normal(size=POINTS)
    result = calibration(np.zeros((1, POINTS)), observed, make_noise("gaussian", 1.0))
    assert result["mean_z_total"] == pytest.approx(0.5, abs=0.06)
    assert result["chi2_per_point"] == pytest.approx(1.25, abs=0.11)
    assert result["sigma_z_total"] == pytest.approx(1.0, abs=0.05)


def test_single_draw_has_no_epistemic_calibration() -> None:
    result = calibration(np.zeros((1, 3)), np.array([0.1, -0.2, 0.0]), make_noise("gaussian", 0.1))
    assert result["sigma_z_epistemic"] == "3 of 3 points have no epistemic spread"
    assert result["coverage_k1_epistemic"] == result["coverage_k5_epistemic"] == 0
    assert all(np.isfinite(value) for value in result.values() if isinstance(value, float))


def test_one_point_has_no_spread_of_residuals() -> None:
    result = calibration(np.array([[0.0], [0.2]]), np.array([0.2]), make_noise("gaussian", 0.1))
    undefined = {name for name, value in result.items() if isinstance(value, str)}
    assert undefined == {
        "sigma_z_epistemic",
        "sigma_z_total",
        "sigma_z_total_se",
        "mean_z_total_se",
        "chi2_per_point_se",
    }
    assert result["chi2_per_point"] == pytest.approx(0.5)


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
    for confidence in (0.95, 0.5):
        expected = stats.binomtest(hits, 40).proportion_ci(confidence, "wilson")
        found = wilson_interval(np.array(hits / 40), 40, confidence=confidence)
        np.testing.assert_allclose(found, expected, atol=1e-12)
    default = stats.binomtest(hits, 40).proportion_ci(0.95, "wilson")
    np.testing.assert_allclose(wilson_interval(np.array(hits / 40), 40), default, atol=1e-12)


def test_coverage_table_agrees_with_calibration(split: tuple[np.ndarray, np.ndarray]) -> None:
    draws, observed = split
    noise = make_noise("student_t", 0.01)
    mean, posterior_sd, total_sd = predictive_moments(draws, noise)
    z = [standardised_residuals(observed, mean, sd) for sd in (posterior_sd, total_sd)]
    own = OwnCoverage(np.array([0.4, 0.7, 0.9, 1.0]), np.array([0.3, 0.6, 0.9, 1.0]))
    table = coverage_table(z[0], z[1], own, k=np.array([0.5, 1, 2, 3]))
    result = calibration(*split, noise)
    assert list(table) == [
        *("k", "own_epistemic", "own_total", "epistemic", "total", "lower", "upper")
    ]
    assert (table["own_epistemic"] == own.epistemic).all()
    assert (table["own_total"] == own.total).all()
    assert table["total"][1:].tolist() == [result[f"coverage_k{k}"] for k in (1, 2, 3)]
    assert table["epistemic"][1] == result["coverage_k1_epistemic"]
    hits = int(np.sum(np.abs(observed - mean) <= 0.5 * total_sd))
    expected = stats.binomtest(hits, POINTS).proportion_ci(0.95, "wilson")
    assert (table["lower"][0], table["upper"][0]) == pytest.approx(expected)


K = np.array([0.5, 1.0, 2.0, 4.0])


def test_a_gaussian_covers_as_a_gaussian() -> None:
    """One draw, so that the noise is all there is."""
    own = own_coverage(np.zeros((1, 5)), make_noise("gaussian", 0.03), k=K)
    np.testing.assert_allclose(own.total, 2 * stats.norm.cdf(K) - 1, atol=1e-12)
    assert np.isnan(own.epistemic).all()


def test_heavy_tails_about_the_mean_cover_as_they_do() -> None:
    """A Student-t of 4 degrees, whose sd is √2 scales, has 77 % within one sd."""
    noise = make_noise("student_t", 0.02)._replace(about_mean=True)
    draws = np.random.default_rng(2).normal(size=(300, 4))
    own = own_coverage(draws, noise, k=K)
    np.testing.assert_allclose(own.total, 2 * stats.t(4).cdf(K * np.sqrt(2)) - 1, atol=1e-12)
    z = np.abs(draws - draws.mean(axis=0)) / draws.std(axis=0)
    np.testing.assert_allclose(own.epistemic, [(z <= k).mean() for k in K], atol=1e-12)


@pytest.mark.statistical
def test_own_coverage_is_that_of_what_the_predictive_draws(
    split: tuple[np.ndarray, np.ndarray],
) -> None:
    """A mixture of draws and noise, against 200 000 samples of it: 6 errors of at most 0.0011."""
    draws, _ = split
    rng, noise = np.random.default_rng(8), make_noise("student_t", 0.01)
    mean, _, sd = predictive_moments(draws, noise)
    point = rng.integers(draws.shape[1], size=200_000)
    drawn = draws[rng.integers(len(draws), size=len(point)), point]
    drawn = drawn + 0.01 * rng.standard_t(4, size=len(point))
    z = np.abs(drawn - mean[point]) / sd[point]
    own = own_coverage(draws, noise, k=K)
    np.testing.assert_allclose(own.total, [(z <= k).mean() for k in K], atol=0.0067)


def test_level_table_agrees_with_calibration(split: tuple[np.ndarray, np.ndarray]) -> None:
    noise = make_noise("gaussian", 0.03)
    table = level_table(predictive_cdf(*split, noise), np.array([0.5, 0.68, 0.95, 0.997]))
    result = calibration(*split, noise)
    assert list(table) == ["level", "coverage", "lower", "upper"]
    named = [result[name] for name in ("coverage_68", "coverage_95", "coverage_99_7")]
    assert table["coverage"][1:].tolist() == named
    expected = stats.binomtest(round(POINTS * table["coverage"][0]), POINTS)
    interval = expected.proportion_ci(0.95, "wilson")
    assert (table["lower"][0], table["upper"][0]) == pytest.approx(interval)


def test_the_ecdf_counts_points_on_the_grid() -> None:
    ecdf = pit_table(np.array([0.0, 0.5, 1.0, 1.0]))["ecdf"]
    assert ecdf[[0, 49, 50, 99, 100]].tolist() == [0.25, 0.25, 0.5, 0.5, 1.0]


@pytest.mark.parametrize("points", [1, 2, 10, 2000])
def test_pit_table_is_the_ecdf_on_a_grid(points: int) -> None:
    pit = np.random.default_rng(8).random(points)
    table = pit_table(pit)
    assert list(table) == ["u", "ecdf", "lower", "upper"]
    np.testing.assert_allclose(table["u"], np.arange(101) / 100)
    expected = [np.mean(pit <= u) for u in table["u"]]
    np.testing.assert_array_equal(table["ecdf"], expected)
    assert np.isfinite([*table.values()]).all()
    assert (table["lower"] <= table["upper"]).all()


@pytest.mark.parametrize("points", [20, 500])
def test_the_band_holds_its_share_of_uniform_samples(points: int) -> None:
    """By the binomial steps of the counts from one value to the next; counts jump by 5e-5 here."""
    u = np.linspace(0, 1, 101)
    low, high = (np.rint(edge * points) for edge in ecdf_band(points, u, 0.9973))
    counts = np.arange(points + 1)
    chance, before = (counts == 0).astype(float), 0.0
    for value, least, most in zip(u, low, high, strict=True):
        share = (value - before) / (1 - before) if value > before else 0.0
        steps = stats.binom.pmf(counts - counts[:, None], points - counts[:, None], share)
        chance = chance @ steps * ((least <= counts) & (counts <= most))
        before = value
    assert chance.sum() == pytest.approx(0.9973, abs=5e-5)


@pytest.mark.statistical
@pytest.mark.parametrize("points", [10, 500])
def test_band_of_the_pit_holds_95_percent_of_uniform_samples(points: int) -> None:
    """4000 samples, four standard errors; 10 points in steps of a tenth are a little off."""
    rng = np.random.default_rng(9)
    table = pit_table(rng.random(points))
    ecdf = (rng.random((4000, points, 1)) <= table["u"]).mean(axis=1, dtype=np.float32)
    inside = (ecdf >= table["lower"] - 1e-6) & (ecdf <= table["upper"] + 1e-6)
    assert inside.all(axis=1).mean() == pytest.approx(0.95, abs=0.014)


def test_nothing_lies_within_any_width_of_what_is_unknown() -> None:
    assert share_within(np.array([np.nan, 0.0, -2.0, 3.0]), 2) == 0.5
