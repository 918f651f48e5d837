"""Calibration error against loops; calibrated and overconfident predictors are distinguished."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.stats import binomtest

from nlobayes.evaluation.calibration.reliability import (
    adaptive_bins,
    calibrated_ece,
    check,
    ece,
    reliability_table,
    width_bins,
)

SEEDS = range(4)
CONFIDENCES = hnp.arrays(float, st.integers(1, 40), elements=st.floats(0.1, 1))


def answers(seed: int, points: int = 2000, temperature: float = 1.0) -> tuple[np.ndarray, ...]:
    """Confidence and correctness in a choice of two whose log odds were divided by temperature."""
    rng = np.random.default_rng(seed)
    odds = rng.gamma(2, 1, size=points)
    correct = rng.random(points) < 1 / (1 + np.exp(-odds))
    return 1 / (1 + np.exp(-odds / temperature)), correct


def error_by_hand(groups: list[list[tuple[float, bool]]]) -> float:
    total = sum(map(len, groups))
    gaps = [
        len(group)
        / total
        * abs(sum(c for _, c in group) / len(group) - sum(p for p, _ in group) / len(group))
        for group in groups
        if group
    ]
    return math.fsum(gaps)


@given(CONFIDENCES, st.integers(0, 2**32 - 1))
def test_bins_of_equal_width_by_hand(confidence: np.ndarray, seed: int) -> None:
    correct = np.random.default_rng(seed).random(confidence.size) < 0.5
    pairs = list(zip(confidence.tolist(), correct.tolist(), strict=True))
    groups = [[(p, c) for p, c in pairs if m / 15 < p <= (m + 1) / 15] for m in range(15)]
    found = ece(confidence, correct, width_bins(confidence))
    assert found == pytest.approx(error_by_hand(groups), abs=1e-12)


@given(st.integers(1, 6), st.integers(0, 2**32 - 1))
def test_bins_of_equal_mass_by_hand(each: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    confidence = rng.permutation(1 - rng.permutation(1000)[: 15 * each] / 2000)
    correct = rng.random(confidence.size) < confidence
    pairs = sorted(zip(confidence.tolist(), correct.tolist(), strict=True))
    groups = [pairs[start : start + each] for start in range(0, 15 * each, each)]
    found = ece(confidence, correct, adaptive_bins(confidence))
    assert found == pytest.approx(error_by_hand(groups), abs=1e-12)


def test_reliability_of_a_few_points() -> None:
    """Bins of 0.60 to 0.67 and 0.93 to 1: two of three right, the one at 0.95 wrong."""
    table = reliability_table(np.array([0.61, 0.62, 0.66, 0.95]), np.array([1, 0, 1, 0]) > 0)
    assert len(set(map(len, table.values()))) == 1
    np.testing.assert_array_equal(np.flatnonzero(table["count"]), [9, 14])
    np.testing.assert_allclose(table["confidence"][[9, 14]], [0.63, 0.95])
    np.testing.assert_allclose(table["accuracy"][[9, 14]], [2 / 3, 0])
    exact = binomtest(2, 3).proportion_ci(method="wilson")
    assert (table["lower"][9], table["upper"][9]) == pytest.approx((exact.low, exact.high))
    for name in ("confidence", "accuracy", "lower", "upper"):
        assert np.isnan(table[name][table["count"] == 0]).all()
    np.testing.assert_allclose(table["low"][1:], table["high"][:-1])


@pytest.mark.parametrize("seed", SEEDS)
def test_calibration_error_is_that_of_the_table(seed: int) -> None:
    confidence, correct = answers(seed, points=300)
    table = reliability_table(confidence, correct)
    gaps = np.abs(table["accuracy"] - table["confidence"])
    expected = np.nansum(table["count"] * gaps) / table["count"].sum()
    assert ece(confidence, correct, width_bins(confidence)) == pytest.approx(expected)


def test_simulated_errors_of_one_bin_are_those_of_a_binomial() -> None:
    """400 points of confidence 0.7: |k / 400 - 0.7| with k binomial, mean near sd √(2 / π)."""
    confidence = np.full(400, 0.7)
    found = calibrated_ece(confidence, np.random.default_rng(1))
    assert found.shape == (1000,)
    np.testing.assert_allclose(found * 400, np.rint(found * 400), atol=1e-9)
    sd = math.sqrt(0.7 * 0.3 / 400)
    assert found.mean() == pytest.approx(sd * math.sqrt(2 / math.pi), rel=0.1)


@pytest.mark.statistical
@pytest.mark.parametrize("seed", SEEDS)
def test_a_calibrated_predictor_passes_at_the_level_of_noise(seed: int) -> None:
    """Also without tolerance; its error is not zero."""
    confidence, correct = answers(seed)
    result = check(confidence, correct, np.random.default_rng(1), ece_tolerance=0.0)["ece"]
    assert result["passed"] is True
    assert result["low"] is None
    assert isinstance(result["value"], float)
    assert 0.003 < result["value"] < 0.04


@pytest.mark.statistical
def test_a_calibrated_predictor_fails_once_in_a_hundred() -> None:
    failed = 0
    for seed in range(200):
        confidence, correct = answers(seed, points=200)
        result = check(confidence, correct, np.random.default_rng(seed), ece_tolerance=0.0)
        failed += not result["ece"]["passed"]
    assert failed <= 8


@pytest.mark.statistical
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("temperature", [0.5, 2.0], ids=["overconfident", "underconfident"])
def test_wrong_confidence_fails(seed: int, temperature: float) -> None:
    confidence, correct = answers(seed, temperature=temperature)
    result = check(confidence, correct, np.random.default_rng(1))["ece"]
    assert result["passed"] is False
    assert ece(confidence, correct, adaptive_bins(confidence)) > 0.05


def test_bound_is_tolerance_plus_the_quantile_of_a_calibrated_predictor() -> None:
    confidence, correct = answers(0, points=500)
    result = check(confidence, correct, np.random.default_rng(3), ece_tolerance=0.05)["ece"]
    noise = np.quantile(calibrated_ece(confidence, np.random.default_rng(3)), 0.99)
    assert result["high"] == pytest.approx(0.05 + noise)
    assert result["value"] == ece(confidence, correct, width_bins(confidence))
    bare = check(confidence, correct, np.random.default_rng(3), ece_tolerance=0.0)["ece"]
    assert bare["high"] == pytest.approx(noise)


def test_many_points_are_simulated_in_parts() -> None:
    """More points than one chunk of temporaries holds."""
    confidence, _ = answers(0, points=2001)
    found = calibrated_ece(confidence, np.random.default_rng(0))
    assert found.shape == (1000,)
    assert 0 < found.min() < found.max() < 0.06
