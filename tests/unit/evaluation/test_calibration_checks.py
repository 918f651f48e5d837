"""A calibrated forecaster passes every check; each wrong one fails every check."""

import numpy as np
import pytest
from scipy import stats

from nlobayes.evaluation.calibration.calibration import pit_table, standardised_residuals
from nlobayes.evaluation.calibration.checks import BAND, check
from nlobayes.evaluation.predictive.density import predictive_cdf, predictive_moments
from tests.unit.evaluation.noises import make_noise

POINTS = 2000
CHECKS = ["chi2_per_point", "coverage_68", "coverage_95", "pit_ecdf"]
SEEDS = range(2)


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
    found = check(z_total, pit, ranked=None, **tolerances)
    assert [*found] == CHECKS
    return {name for name, result in found.items() if result["passed"]}


@pytest.mark.statistical
@pytest.mark.parametrize("seed", SEEDS)
def test_a_calibrated_forecaster_passes(seed: int) -> None:
    """Also without tolerance, within three standard errors."""
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


def test_bounds_are_tolerance_and_three_standard_errors() -> None:
    z = stats.norm.ppf((np.arange(400) + 0.5) / 400)
    found = check(z, stats.norm.cdf(z), coverage_tolerance=0.01, chi2_tolerance=0.05)
    reach = 0.01 + 3 * np.sqrt(0.68 * 0.32 / 400)
    assert found["coverage_68"] == {
        "value": pytest.approx(0.68),
        "low": pytest.approx(0.68 - reach),
        "high": pytest.approx(0.68 + reach),
        "passed": True,
    }
    assert found["chi2_per_point"]["high"] == pytest.approx(1.05 + 3 * np.sqrt(2 / 400))
    assert found["chi2_per_point"]["value"] == pytest.approx(np.mean(z**2))
    assert found["pit_ecdf"]["low"] is None


def test_heavy_tails_widen_the_bounds_of_chi2() -> None:
    """A single pull of 20 among 400: the error is that of the values."""
    z = np.append(np.ones(399), 20.0)
    found = check(z, stats.norm.cdf(z))["chi2_per_point"]
    assert found["high"] == pytest.approx(1.1 + 3 * np.std(z**2) / 20)


def test_excess_is_the_largest_distance_out_of_the_band() -> None:
    """All of 100 points at 0.5: the function jumps to 1 where the band ends below 0.75."""
    found = check(np.zeros(100), np.full(100, 0.5))["pit_ecdf"]
    assert isinstance(found["value"], float)
    assert 0.25 < found["value"] < 0.5
    assert found["passed"] is False


def test_a_pit_that_underflows_to_zero_is_no_excess_of_its_own() -> None:
    pit = (np.arange(500) + 0.5) / 500
    pit[0] = 0.0
    assert check(np.ones(500), pit)["pit_ecdf"]["passed"] is True


def test_one_point_is_checked_within_wide_bounds() -> None:
    found = check(np.array([0.1]), np.array([0.54]))
    assert {name for name, result in found.items() if result["passed"]} == set(CHECKS)
    assert found["chi2_per_point"]["high"] == pytest.approx(1.1 + 3 * np.sqrt(2))


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
        band = pit_table(np.array([0.5] * points), confidence=BAND, ranked=rows)
        lower, upper = band["lower"][1:-1], band["upper"][1:-1]
        return int(((found < lower) | (found > upper)).any(axis=1).sum())

    rng = np.random.default_rng(0)
    found = np.array([ecdf(rng) for _ in range(1000)])
    assert refused(ranked) <= 8
    assert ranked > points or refused(None) > 30


@pytest.mark.statistical
def test_ranks_do_not_excuse_intervals_that_are_too_narrow() -> None:
    _, pit = forecast(0, factor=1 / 1.4)
    assert check(np.zeros(POINTS), pit, ranked=500)["pit_ecdf"]["passed"] is False


def test_the_band_of_the_test_rows_alone_is_the_limit_of_many_ranked_rows() -> None:
    pit = (np.arange(200) + 0.5) / 200
    alone, many, few = (pit_table(pit, ranked=rows) for rows in (None, 10**9, 100))
    assert many["upper"] == pytest.approx(alone["upper"], abs=1e-8)
    assert few["upper"][50] == pytest.approx(
        alone["upper"][50]
    )  # signs have no information about ranks
    assert few["upper"][80] - 0.8 == pytest.approx(
        np.sqrt(1 + 2 * 0.6 / 1.6) * (alone["upper"][80] - 0.8)
    )
