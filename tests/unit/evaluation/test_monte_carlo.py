"""Monte-Carlo errors of scores, against the spread of the scores of many runs of known draws."""

from typing import Any

import numpy as np
import pytest
from scipy.signal import lfilter

from nlobayes.data.splits import TEST, VALIDATION
from nlobayes.data.transforms import TargetTransform
from nlobayes.distributions.laws import LAWS
from nlobayes.evaluation.monte_carlo import monte_carlo_errors, summarised
from nlobayes.evaluation.tables.predictions import Rows
from nlobayes.evaluation.tasks import stated
from nlobayes.evaluation.tasks.scored_splits import ScoringProblem, score_halves
from nlobayes.metrics.shown import MONTE_CARLO, with_error

CHAINS, DRAWS, WAVES = 4, 60, 8
HELD, TESTED = 120, 200
TIME = 1.9
"""Integrated autocorrelation time of the draws, (1 + phi) / (1 - phi) with phi = 0.3."""
SCORES = (
    *("rmse_log10", "r2_log10", "rmse_target", "relative_error_p50", "relative_error_p95"),
    *("coverage_68", "coverage_95", "lppd", "crps", "interval_score_95", "chi2_per_point"),
)


class Chains:
    """Chains of a smooth function of one input, with a fixed error and a known spread.

    The Monte-Carlo error of its mean is a share of the error of the prediction.
    """

    def __init__(self, share: float) -> None:
        rng = np.random.default_rng(1)
        self.split = np.repeat([VALIDATION, TEST], [HELD, TESTED])
        self.x = rng.uniform(-1, 1, HELD + TESTED)
        self.waves = np.cos(np.outer(np.arange(WAVES), np.pi * (self.x + 1) / 2)) / 2
        error = rng.normal(size=WAVES) @ self.waves + 0.3 * rng.standard_t(5, len(self.x))
        self.observed = -1.5 + 1e-4 * error
        self.sd = 1e-4 * share * np.sqrt(CHAINS * DRAWS / TIME)

    def draw(self, seed: int) -> np.ndarray:
        """Draw the chains, one after the other: autoregressive, from their stationary state."""
        steps = np.random.default_rng(seed).normal(size=(CHAINS, DRAWS, WAVES))
        steps[:, 1:] *= np.sqrt(1 - 0.3**2)
        drawn = lfilter([1], [1, -0.3], steps, axis=1).reshape(-1, WAVES)
        return -1.5 + self.sd * drawn @ self.waves

    @property
    def scored(self) -> ScoringProblem:
        """The inputs of scores."""
        rows = Rows(self.split, self.observed, self.x, np.zeros(len(self.x)), None, None)
        target = TargetTransform(scale="log10", mean=0.0, sd=1.0)
        return ScoringProblem(rows, self.x[:, np.newaxis], target, 1, "auto", None)


def spread_and_errors(
    chains: Chains, family: str, runs: int, stated: int
) -> tuple[dict[str, float], dict[str, float]]:
    """Return the sd of scores over runs, and the root mean square of their stated errors."""
    of_draws = score_halves(family, chains.scored)
    scores = [of_draws(chains.draw(seed)) for seed in range(runs)]
    errors = [monte_carlo_errors(chains.draw(seed), of_draws) for seed in range(stated)]
    assert all(errors)
    true = {key: float(np.std([each[key] for each in scores], ddof=1)) for key in SCORES}
    found: Any = errors
    return true, {key: float(np.sqrt(np.mean([e[key] ** 2 for e in found]))) for key in SCORES}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("family", "share", "runs", "stated"),
    [
        ("conformal", 0.1, 150, 24),
        pytest.param("conformal", 0.3, 400, 80, marks=pytest.mark.slow),
        pytest.param("gaussian", 0.1, 400, 80, marks=pytest.mark.slow),
        pytest.param("fitted_student_t", 0.1, 100, 24, marks=pytest.mark.slow),
    ],
)
def test_errors_are_the_spread_of_scores_over_runs(
    family: str, share: float, runs: int, stated: int
) -> None:
    """Within a third for every score, and a tenth in the mean over scores.

    The spread over 150 runs has an error of 6 %, and the mean of 24 stated errors of 7 degrees of
    freedom one of 6 %, so that a third is four standard errors.
    """
    true, errors = spread_and_errors(Chains(share), family, runs, stated)
    ratios = {key: errors[key] / true[key] for key in SCORES}
    assert all(2 / 3 < ratio < 3 / 2 for ratio in ratios.values()), ratios
    assert np.exp(np.mean(np.log([*ratios.values()]))) == pytest.approx(1, abs=0.15), ratios


def test_the_error_of_a_mean_is_that_of_batch_means() -> None:
    """Exactly, for eight batches of consecutive draws; for two members half their difference."""
    draws = np.random.default_rng(3).normal(size=(48, 1))
    means = draws.reshape(8, -1).mean(axis=1)

    def mean(some: np.ndarray) -> dict[str, Any]:
        return {"mean": float(some.mean()), "why": "a text", "none": None}

    expected = means.std(ddof=1) / np.sqrt(8)
    found = monte_carlo_errors(draws, mean)
    assert found == {"mean": pytest.approx(expected, rel=1e-12), "none": None}
    pair = monte_carlo_errors(draws[:2], mean)
    assert pair == {"mean": pytest.approx(abs(np.diff(draws[:2, 0])[0]) / 2), "none": None}
    assert monte_carlo_errors(draws[:1], mean) is None


def test_few_draws_have_mean_sd_and_median_of_all() -> None:
    """The median to a twentieth of the sd, for skewed draws as well."""
    draws = np.random.default_rng(4).gamma(4.0, size=(400, 30))
    few = summarised(draws)
    assert len(few) == 15
    np.testing.assert_allclose(few.mean(axis=0), draws.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(few.std(axis=0), draws.std(axis=0), rtol=1e-12)
    np.testing.assert_allclose(np.median(few, 0), np.median(draws, 0), atol=0.05 * 2)
    np.testing.assert_array_equal(summarised(draws[:15]), draws[:15])


def test_the_models_own_predictive_has_the_errors_of_its_halves() -> None:
    """From sums over batches, as from the halves of the draws themselves."""
    rng = np.random.default_rng(5)
    draws, observed = rng.normal(size=(80, 50)), rng.normal(size=50)
    noise = LAWS["gaussian"].build(scale=0.5)
    whole = stated.scores(draws, observed, noise)
    errors = monte_carlo_errors(draws, lambda half: stated.scores(half, observed, noise))
    assert errors is not None
    assert whole[MONTE_CARLO]["lppd"] == pytest.approx(errors["lppd"])
    assert whole[MONTE_CARLO]["coverage_68"] == pytest.approx(errors["coverage_68"])
    assert stated.scores(draws[:1], observed, noise)[MONTE_CARLO] is None


@pytest.mark.parametrize(
    ("value", "error", "form", "text"),
    [
        (9.189, 0.013, ".3f", "9.189(13)"),
        (9.189, 0.0305, ".3f", "9.19(3)"),
        (0.66249, 0.0035, ".1%", "66.2(4)%"),
        (5.94e-5, 1.2e-6, ".3g", "5.94(12)e-05"),
        (5.94e-5, 1e-9, ".3g", "5.94(1)e-05"),
        (0.03, 0.003, ".4g", "0.030(3)"),
        (134.4, 25.0, ".0f", "134(25)"),
        (3.5e-5, None, ".2g %", "0.0035 %"),
        (0.012, 0.002, ".2g %", "1.2(2) %"),
        (2.4, None, ".3f", "2.400"),
        (2.4, 0.0, ".3f", "2.400"),
    ],
)
def test_errors_are_rounded_to_one_digit_or_two(
    value: float, error: float | None, form: str, text: str
) -> None:
    assert with_error(value, error, form) == text
