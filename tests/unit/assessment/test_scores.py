"""Scores against closed forms, scipy and hand calculation."""

import numpy as np
import pytest
from scipy import stats

from nlobayes.assessment.noise import make_noise
from nlobayes.assessment.scores import (
    accuracy,
    evaluate,
    mean_target,
    predictions_table,
    proper_scores,
    r_squared,
)
from nlobayes.errors import InputError

CONTRACT = {
    "r2_log10", "rmse_log10", "r2_target_mean", "r2_target_median",
    "relative_error_p50", "relative_error_p68", "relative_error_p90", "relative_error_p95",
    "relative_error_p99", "sigma_z_epistemic", "sigma_z_total",
    "coverage_k1", "coverage_k2", "coverage_k3", "coverage_k4", "coverage_k5",
    "coverage_68", "coverage_95", "coverage_99_7", "crps", "lppd", "nll_gaussian", "pit_ks",
}  # fmt: skip
BEYOND = {f"coverage_k{k}_epistemic" for k in range(1, 6)}


@pytest.fixture
def split() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(1)
    observed = rng.normal(0, 1, 60)
    return observed + rng.normal(0, 0.1, (7, 60)), observed


def gaussian_crps(z: np.ndarray, sd: float) -> np.ndarray:
    """Closed form of Gneiting and Raftery (2007)."""
    density = 2 * stats.norm.pdf(z) - 1 / np.sqrt(np.pi)
    return sd * (z * (2 * stats.norm.cdf(z) - 1) + density)


@pytest.mark.statistical
@pytest.mark.parametrize("samples", [1, 2000])
def test_crps_matches_the_gaussian_closed_form(samples: int) -> None:
    """Noise 0.1 alone, or spread 0.08 and noise 0.06: both N(0, 0.1). Within 1 %."""
    rng = np.random.default_rng(2)
    noise = make_noise("gaussian", 0.1 if samples == 1 else 0.06)
    draws = np.zeros((1, 500)) if samples == 1 else 0.08 * rng.normal(size=(samples, 500))
    observed = 0.1 * np.linspace(-3, 3, 500)
    expected = gaussian_crps(observed / 0.1, 0.1).mean()
    assert proper_scores(draws, observed, noise, rng)["crps"] == pytest.approx(expected, rel=0.01)


def test_crps_depends_on_the_seed_alone(split: tuple[np.ndarray, np.ndarray]) -> None:
    noise = make_noise("student_t", 0.05)
    first, again, other = (
        proper_scores(*split, noise, np.random.default_rng(seed)) for seed in (1, 1, 2)
    )
    assert first == again
    assert first["crps"] != other["crps"]
    assert first["lppd"] == other["lppd"]


@pytest.mark.parametrize(
    ("family", "oracle"),
    [("gaussian", stats.norm(scale=0.05)), ("student_t", stats.t(df=4, scale=0.05))],
)
def test_log_scores_match_scipy(
    split: tuple[np.ndarray, np.ndarray], family: str, oracle: stats.rv_continuous
) -> None:
    draws, observed = split
    scores = proper_scores(draws, observed, make_noise(family, 0.05), np.random.default_rng(3))
    lppd = np.log(oracle.pdf(observed - draws).mean(axis=0)).mean()
    total_sd = np.sqrt(draws.var(axis=0) + oracle.var())
    nll = -stats.norm.logpdf(observed, draws.mean(axis=0), total_sd).mean()
    assert scores["lppd"] == pytest.approx(lppd, rel=1e-12)
    assert scores["nll_gaussian"] == pytest.approx(nll, rel=1e-12)


def test_accuracy_by_hand() -> None:
    """Targets 1, 10, 100; draws chosen so that mean and median differ."""
    observed = np.array([0.0, 1.0, 2.0])
    draws = np.array([[0.0, 1.0, 1.0], [0.0, 1.0, 2.0], [0.3, 1.0, 2.0]])
    result = accuracy(draws, observed)
    mean = np.array([0.1, 1.0, 5 / 3])
    assert result["rmse_log10"] == pytest.approx(np.sqrt((0.01 + 1 / 9) / 3))
    assert result["r2_log10"] == pytest.approx(1 - ((mean - observed) ** 2).sum() / 2)
    assert result["r2_target_median"] == pytest.approx(1.0)
    means = np.array([(2 + 10**0.3) / 3, 10.0, 70.0])
    target = np.array([1.0, 10.0, 100.0])
    expected = 1 - ((target - means) ** 2).sum() / ((target - 37) ** 2).sum()
    assert result["r2_target_mean"] == pytest.approx(expected)
    assert result["relative_error_p99"] == pytest.approx(0.0, abs=1e-15)


def test_relative_errors_are_percentiles_in_target_space() -> None:
    """Errors of 0, 1, ..., 100 %, predicted too high."""
    observed = np.linspace(0, 3, 101)
    draws = (observed + np.log10(1 + np.arange(101) / 100))[np.newaxis]
    result = accuracy(draws, observed)
    for p in (50, 68, 90, 95, 99):
        assert result[f"relative_error_p{p}"] == pytest.approx(p / 100, rel=1e-12)


@pytest.mark.statistical
def test_mean_target_is_the_lognormal_mean() -> None:
    """200 000 draws in many chunks; relative standard error 0.1 %."""
    draws = 0.2 * np.random.default_rng(4).normal(size=(200_000, 6)) + np.arange(6)
    expected = 10 ** (np.arange(6) + 0.5 * np.log(10) * 0.2**2)
    np.testing.assert_allclose(mean_target(draws), expected, rtol=6e-3)


@pytest.mark.parametrize("samples", [1, 4, 7])
def test_evaluate_has_the_keys_of_the_contract_and_no_nan(
    split: tuple[np.ndarray, np.ndarray], samples: int
) -> None:
    draws, observed = split
    noise = make_noise("student_t", 0.05)
    result = evaluate(draws[:samples], observed, noise, np.random.default_rng(5))
    assert set(result) == CONTRACT | BEYOND
    undefined = {name for name, value in result.items() if value is None}
    assert undefined == ({"sigma_z_epistemic"} if samples == 1 else set())
    assert all(type(value) is float for value in result.values() if value is not None)
    assert all(np.isfinite(value) for value in result.values() if value is not None)


def test_float32_draws_are_scored_in_float64(split: tuple[np.ndarray, np.ndarray]) -> None:
    draws, observed = split
    noise, draws32 = make_noise("gaussian", 0.05), draws.astype(np.float32)
    single = evaluate(draws32, observed, noise, np.random.default_rng(6))
    double = evaluate(draws32.astype(np.float64), observed, noise, np.random.default_rng(6))
    assert single == double


def test_predictions_table_by_hand() -> None:
    draws, observed = np.array([[0.0, 1.0], [0.2, 1.0]]), np.array([0.3, 0.5])
    table = predictions_table(draws, observed, make_noise("gaussian", 0.1))
    expected = {
        "mean_log10": [0.1, 1.0],
        "epistemic_sd_log10": [0.1, 0.0],
        "total_sd_log10": [0.1 * np.sqrt(2), 0.1],
        "median_target": [10**0.1, 10.0],
        "mean_target": [(1 + 10**0.2) / 2, 10.0],
        "z_epistemic": [2.0, np.nan],
        "z_total": [np.sqrt(2), -5.0],
        "pit": [stats.norm.cdf([3, 1]).mean(), stats.norm.cdf(-5)],
    }
    assert list(table) == list(expected)
    for name, values in expected.items():
        np.testing.assert_allclose(table[name], values, rtol=1e-12, atol=1e-15, err_msg=name)


def test_r_squared_refuses_constant_targets() -> None:
    with pytest.raises(InputError, match="two different targets"):
        r_squared(np.zeros(3), np.ones(3))
