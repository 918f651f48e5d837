"""A calibrated forecaster passes every check; each wrong one fails every check."""

from math import comb
from typing import Any

import numpy as np
import pytest
from scipy import stats

from nlobayes.evaluation.calibration.calibration import pit_table, standardised_residuals
from nlobayes.evaluation.calibration.calibration_checks import WITHIN, check
from nlobayes.evaluation.predictive.predictive_density import predictive_cdf, predictive_moments
from tests.unit.evaluation.noises import make_noise

POINTS = 2000
CHECKS = ["chi2_per_point", "coverage_68", "coverage_95", "pit_ecdf"]
SEEDS = range(2)
KNOWN = 10**8
"""Rows of a fit that leaves no doubt."""


def forecast(
    seed: int, *, factor: float = 1.0, shift: float = 0.0
) -> tuple[np.ndarray, np.ndarray]:
    """Residuals and PIT of a forecast whose sd is `factor` times right, off by `shift` true sd.

    The truth is exchangeable with 200 draws of spread 0.3, and noise of 0.4 comes on top.
    """
    rng = np.random.default_rng(seed)
    centre = rng.normal(size=POINTS)
    draws = centre + shift * 0.5 + factor * 0.3 * rng.normal(size=(200, POINTS))
    observed = centre + 0.3 * rng.normal(size=POINTS) + 0.4 * rng.normal(size=POINTS)
    noise = make_noise("gaussian", factor * 0.4)
    mean, _, total_sd = predictive_moments(draws, noise)
    return standardised_residuals(observed, mean, total_sd), predictive_cdf(draws, observed, noise)


def passed(seed: int, *, factor: float = 1.0, shift: float = 0.0, **tolerances: float) -> set[str]:
    z_total, pit = forecast(seed, factor=factor, shift=shift)
    found = check(z_total, pit, fitted_to=KNOWN, **tolerances)
    assert [*found] == CHECKS
    return {name for name, result in found.items() if result["passed"]}


@pytest.mark.statistical
@pytest.mark.parametrize("seed", SEEDS)
def test_a_calibrated_forecaster_passes(seed: int) -> None:
    """Also without tolerance, by chance alone."""
    assert passed(seed) == set(CHECKS)
    assert passed(seed, coverage_tolerance=0.0, chi2_tolerance=0.0) == set(CHECKS)


@pytest.mark.statistical
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(
    ("factor", "shift"),
    [(1.4, 0.0), (1 / 1.4, 0.0), (1.0, 1.0), (1.0, -1.0)],
    ids=["over", "under", "right", "left"],
)
def test_a_wrong_forecaster_fails_every_check(seed: int, factor: float, shift: float) -> None:
    assert passed(seed, factor=factor, shift=shift) == set()


@pytest.mark.statistical
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("shift", [0.5, -0.5])
@pytest.mark.slow
def test_half_a_standard_deviation_off_fails(seed: int, shift: float) -> None:
    """By the PIT; within the tolerance 95 % coverage (92 % here) may pass, without it none does."""
    assert "pit_ecdf" not in passed(seed, shift=shift)
    assert passed(seed, shift=shift, coverage_tolerance=0.0, chi2_tolerance=0.0) == set()


def test_limits_of_coverage_are_those_of_ranks_by_counting() -> None:
    """Of all orders of 99 and 40 residuals: k of the 40 are within the 68th of the 99."""
    ways = [comb(k + 67, k) * comb(40 - k + 31, 40 - k) for k in range(41)]
    below = np.cumsum(ways) / comb(139, 40)
    low, high = np.searchsorted(below, [(1 - WITHIN) / 2, (1 + WITHIN) / 2]) / 40
    z = stats.norm.ppf((np.arange(40) + 0.5) / 40)
    found = check(z, stats.norm.cdf(z), fitted_to=99, coverage_tolerance=0.01)
    assert found["coverage_68"] == {
        "value": pytest.approx(0.68, abs=0.025),
        "low": pytest.approx(low - 0.01),
        "high": pytest.approx(high + 0.01),
        "passed": True,
    }
    assert found["pit_ecdf"]["low"] is None


def test_limits_of_chi2_are_those_of_a_ratio_of_gaussian_variances() -> None:
    """0.135 % of 400 000 ratios of 60 and 40 values lie beyond either limit, within 10 %."""
    rng = np.random.default_rng(0)
    tested, fitted = (rng.chisquare(rows, 400_000) / rows for rows in (60, 40))
    z = stats.norm.ppf((np.arange(60) + 0.5) / 60)
    checks = check(z, stats.norm.cdf(z), fitted_to=40, chi2_tolerance=0.0)
    found: Any = checks["chi2_per_point"]
    assert found["value"] == pytest.approx(np.mean(z**2))
    for beyond in (tested / fitted < found["low"], tested / fitted > found["high"]):
        assert beyond.mean() == pytest.approx((1 - WITHIN) / 2, rel=0.13)


def test_heavy_tails_widen_the_limits_of_chi2() -> None:
    """A single pull of 20 among 400: one pull decides, so the limits are those of few rows."""
    z = np.append(np.ones(399), 20.0)
    gaussian = stats.norm.ppf((np.arange(400) + 0.5) / 400)
    heavy, light = (
        check(pulls, stats.norm.cdf(pulls), fitted_to=KNOWN)["chi2_per_point"]["high"]
        for pulls in (z, gaussian)
    )
    assert heavy is not None
    assert light is not None
    assert heavy > 3 > 1.4 > light


def test_excess_is_the_largest_distance_out_of_the_band() -> None:
    """All of 100 points at 0.5: the function jumps to 1 where the band ends below 0.75."""
    found = check(np.zeros(100), np.full(100, 0.5), fitted_to=KNOWN)["pit_ecdf"]
    assert isinstance(found["value"], float)
    assert 0.25 < found["value"] < 0.5
    assert found["passed"] is False


def test_a_pit_that_underflows_to_zero_is_no_excess_of_its_own() -> None:
    pit = (np.arange(500) + 0.5) / 500
    pit[0] = 0.0
    assert check(np.ones(500), pit, fitted_to=KNOWN)["pit_ecdf"]["passed"] is True


@pytest.mark.statistical
@pytest.mark.parametrize(("ranked", "points"), [(500, 1000), (2000, 400)])
def test_ranks_among_few_residuals_are_no_false_alarm(ranked: int, points: int) -> None:
    """Of 1000 forecasters whose PITs are exact ranks of exchangeable residuals, 8 at most fail.

    0.27 % should leave the band. The band of the test rows alone is the control: 7 % leave it.
    """
    u = np.linspace(0, 1, 101)[1:-1]

    def ecdf(rng: np.random.Generator) -> np.ndarray:
        others, own = np.sort(np.abs(rng.normal(size=ranked))), rng.normal(size=points)
        rank = (np.searchsorted(others, np.abs(own)) + rng.random(points)) / (ranked + 1)
        pit = (1 + np.sign(own) * rank) / 2
        return np.searchsorted(np.sort(pit), u, side="right") / points

    def refused(rows: int | None) -> int:
        band = pit_table(np.array([0.5] * points), confidence=WITHIN, fitted_to=rows)
        lower, upper = band["lower"][1:-1], band["upper"][1:-1]
        return int(((found < lower) | (found > upper)).any(axis=1).sum())

    rng = np.random.default_rng(0)
    found = np.array([ecdf(rng) for _ in range(1000)])
    assert refused(ranked) <= 8
    assert ranked > points or refused(None) > 30


@pytest.mark.statistical
def test_ranks_do_not_excuse_intervals_that_are_too_narrow() -> None:
    _, pit = forecast(0, factor=1 / 1.4)
    assert check(np.zeros(POINTS), pit, fitted_to=500)["pit_ecdf"]["passed"] is False


def test_the_band_of_the_test_rows_alone_is_the_limit_of_many_ranked_rows() -> None:
    pit = (np.arange(200) + 0.5) / 200
    alone, many, few = (pit_table(pit, fitted_to=rows) for rows in (None, 10**9, 100))
    assert many["upper"] == pytest.approx(alone["upper"], abs=1e-8)
    assert few["upper"][50] == pytest.approx(
        alone["upper"][50]
    )  # signs have no information about ranks
    assert few["upper"][80] - 0.8 == pytest.approx(
        np.sqrt(1 + 2 * 0.6 / 1.6) * (alone["upper"][80] - 0.8)
    )
