"""Rivals are scored as a run is: their error bars cover what is like the validation rows."""

from typing import Any

import numpy as np
import pytest
from scipy.stats import norm

from nlobayes.data.transforms import TargetTransform
from nlobayes.evaluation.tables.predictions import Rows
from nlobayes.evaluation.tasks.regression import ScoringProblem, own_account, score_rivals
from nlobayes.types import RivalPrediction

ROWS = 4000


def scored(residual_sd: np.ndarray, rng: np.random.Generator) -> tuple[ScoringProblem, np.ndarray]:
    """Rows in random splits, and a best guess that is off by residuals of these sds."""
    split = rng.permutation(np.repeat([0, 1, 2], [1000, 1000, ROWS - 2000]))
    observed = rng.normal(size=ROWS)
    covariate = rng.uniform(size=ROWS)
    rows = Rows(split, observed, covariate, np.zeros(ROWS), None, None)
    target = TargetTransform("identity", 0.0, 1.0)
    features = np.column_stack([covariate, observed])
    guess = observed + residual_sd * rng.standard_t(4, size=ROWS)
    return ScoringProblem(rows, features, target, 1, "auto", None), guess


def test_conformal_bars_cover_whatever_the_residuals_are() -> None:
    """Heavy tails whose width varies: within four standard errors, of 2000 and 1000 rows."""
    rng = np.random.default_rng(3)
    given, guess = scored(rng.uniform(0.5, 2.0, ROWS), rng)
    rivals = {"one": RivalPrediction(guess[np.newaxis], None, {})}
    found = score_rivals(rivals, given._replace(family="conformal"), np.zeros(2000))["one"]
    for key, level in (("coverage_68", 0.68), ("coverage_95", 0.95)):
        error = np.sqrt(level * (1 - level) * (1 / 2000 + 1 / 1000))
        assert found["test"][key] == pytest.approx(level, abs=4 * error)
    assert found["predictive_noise"]["family"] == "conformal"
    assert "own" not in found


def test_each_rival_has_a_family_of_its_own() -> None:
    """Residuals of four degrees of freedom have few, and Gaussian ones many, or no such tails."""
    rng = np.random.default_rng(3)
    given, heavy = scored(np.full(ROWS, 0.3), rng)
    plain = given.rows.observed + rng.normal(0, 0.3, ROWS)
    drawn = {"heavy": heavy, "plain": plain}
    rivals = {name: RivalPrediction(f[np.newaxis], None, {}) for name, f in drawn.items()}
    found = score_rivals(rivals, given, np.zeros(2000))
    noise = {name: scores["predictive_noise"] for name, scores in found.items()}
    assert noise["heavy"]["family"] == "fitted_student_t"
    assert noise["heavy"]["degrees_of_freedom"] <= 6
    plain = noise["plain"]["degrees_of_freedom"]
    assert noise["plain"]["family"] == "gaussian" if plain is None else plain >= 12


def test_the_stated_error_of_a_rival_is_a_gaussian() -> None:
    """Coverage of 20 000 draws within four standard errors; the log score by SciPy, to rounding."""
    rng = np.random.default_rng(5)
    mean, sd = rng.normal(size=20_000), rng.uniform(0.5, 2, 20_000)
    observed = mean + sd * rng.normal(size=20_000)
    found = own_account(mean, sd, observed)
    assert found["coverage_68"] == pytest.approx(0.68, abs=4 * np.sqrt(0.68 * 0.32 / 20_000))
    assert found["coverage_95"] == pytest.approx(0.95, abs=4 * np.sqrt(0.95 * 0.05 / 20_000))
    assert found["lppd"] == pytest.approx(norm(mean, sd).logpdf(observed).mean())
    assert own_account(mean, sd / 2, observed)["coverage_68"] < 0.45


def test_the_difference_of_log_scores_is_paired_over_test_rows() -> None:
    """Half of the error, all else equal: the exact gain is log 2, its error that of the pairs."""
    rng = np.random.default_rng(7)
    given, guess = scored(np.zeros(ROWS), rng)
    noise = rng.normal(0, 0.2, ROWS)
    observed, test = given.rows.observed, given.rows.split == 2
    density = norm(guess + 2 * noise, 0.4).logpdf(observed)[test]
    rivals = {"half": RivalPrediction((guess + noise)[np.newaxis], None, {})}
    scores = score_rivals(rivals, given._replace(family="gaussian"), density)["half"]
    found: Any = scores["lppd_difference"]
    assert found["mean"] == pytest.approx(np.log(2), abs=0.02)
    assert found["standard_error"] < 0.01
    assert found["low"] < found["mean"] < found["high"]
    assert found["size"] == 2000
