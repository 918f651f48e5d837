"""The scores of predicted numbers on every split, by noise that was fitted to held-out rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from nlobayes.data.splits import SPLITS, TEST, TRAIN, VALIDATION
from nlobayes.data.transforms import TargetTransform
from nlobayes.evaluation import monte_carlo
from nlobayes.evaluation.calibration.calibration import standardised_residuals
from nlobayes.evaluation.calibration.calibration_checks import spread_along
from nlobayes.evaluation.calibration.conditional import coverage_by_decile, scale_shares
from nlobayes.evaluation.calibration.pull_counts import pull_counts
from nlobayes.evaluation.predictive.fitted import FittedNoise
from nlobayes.evaluation.predictive.noise_fit import fit_noise, noise_at_points
from nlobayes.evaluation.predictive.predictive_density import (
    PredictiveNoise,
    predictive_cdf,
    predictive_moments,
    select_rows,
)
from nlobayes.evaluation.run_evaluation import Halves, Scores, SplitScores, Spread
from nlobayes.evaluation.scores.of_split import evaluate, score_groups
from nlobayes.evaluation.scores.split import NO_OWN, OwnScores
from nlobayes.evaluation.tables.predictions import Rows
from nlobayes.evaluation.tasks.halves import HeldOutRows, choose_family, halved_scores
from nlobayes.metrics.shown import MONTE_CARLO
from nlobayes.types import RowGroups


class ScoringProblem(NamedTuple):
    """The inputs of scores of a posterior and its baselines; the family may be `auto`.

    `groups` names groups of rows that are also scored separately; None if there are none. `own` are
    custom scores. `left_out` states that predictions of train rows are leave-one-out, so that noise
    is fitted to them and to validation rows, and otherwise to validation rows alone.
    """

    rows: Rows
    features: np.ndarray
    target: TargetTransform
    seed: int
    family: str
    groups: RowGroups | None
    own: OwnScores = NO_OWN
    left_out: bool = False

    @property
    def fitted_on(self) -> list[int]:
        """Splits whose rows the noise is fitted to."""
        return [TRAIN, VALIDATION] if self.left_out else [VALIDATION]

    @property
    def held(self) -> np.ndarray:
        """Whether the noise is fitted to a row (point,)."""
        return np.isin(self.rows.split, self.fitted_on)


def score_splits(
    draws: np.ndarray, scored: ScoringProblem, *, drawn: bool = False
) -> tuple[SplitScores, PredictiveNoise]:
    """Choose and fit the noise on held-out rows, and score every split with it.

    Only predictions that are `drawn` at random have Monte-Carlo errors.
    """
    spread = _spread(draws, scored)
    halves = _halves(draws, scored, changes=spread["changes"])
    described, noise = _fit_noise(draws, halves["family"], scored)
    train, val, test = (
        _one_split(draws, noise, label, scored) for label in (TRAIN, VALIDATION, TEST)
    )
    of_draws = score_halves(halves["family"], scored)
    errors = monte_carlo.monte_carlo_errors(draws, of_draws) if drawn else None
    scores: SplitScores = {
        "train": train,
        "val": val,
        "test": {**test, MONTE_CARLO: errors},
        "predictive_noise": described,
        "spread": spread,
        "halves": halves,
    }
    return scores, noise


def score_test(draws: np.ndarray, family: str, scored: ScoringProblem) -> SplitScores:
    """Score the test split alone, by noise of a family; without Monte-Carlo errors."""
    described, noise = _fit_noise(draws, family, scored)
    test = _one_split(draws, noise, TEST, scored)
    return {"test": {**test, MONTE_CARLO: None}, "predictive_noise": described}


def _fit_noise(
    draws: np.ndarray, family: str, scored: ScoringProblem
) -> tuple[Scores, PredictiveNoise]:
    """Fit the noise to draws at held-out rows; return its description, and it at all rows."""
    fitted = _fit(draws[:, scored.held], family, scored)
    unit = "dex" if scored.target.scale == "log10" else "of the target"
    described = {
        **fitted._asdict(),
        "unit": unit,
        "fitted_on": " and ".join(SPLITS[label] for label in scored.fitted_on),
    }
    return described, noise_at_points(fitted, draws, scored.features)


def _fit(held: np.ndarray, family: str, scored: ScoringProblem) -> FittedNoise:
    """Fit the noise to draws at the held-out rows (draw, held-out row)."""
    rows, features, chosen = scored.rows, scored.features, scored.held
    return fit_noise(
        *(held, rows.observed[chosen]),
        family=family,
        features=features[chosen],
        covariate=rows.covariate[chosen],
    )


def score_halves(family: str, scored: ScoringProblem) -> Callable[[np.ndarray], Scores]:
    """Return a function that scores test rows by some of the draws (draw, point).

    The noise of this family is fitted to the same draws at held-out rows.
    """
    rows, test = scored.rows, scored.rows.split == TEST
    used = scored.held | test
    held, tested = scored.held[used], test[used]

    def of_draws(draws: np.ndarray) -> Scores:
        few = monte_carlo.summarised(draws[:, used])
        noise = noise_at_points(
            _fit(few[:, held], family, scored), few[:, tested], scored.features[test]
        )
        rng, observed = np.random.default_rng(scored.seed), rows.observed[test]
        return evaluate(
            *(few[:, tested], observed, noise, rng), scale=scored.target.scale, quick=True
        )

    return of_draws


def _one_split(
    draws: np.ndarray, noise: PredictiveNoise, label: int, scored: ScoringProblem
) -> Scores:
    """Score the rows of a split; score held-out rows also in groups."""
    chosen = scored.rows.split == label
    scored = scored._replace(own=scored.own._replace(place=SPLITS[label]))
    features = scored.features[chosen] if label == TEST else None
    scores = _some_rows(draws, noise, chosen, scored, [scored.seed, label], features)
    if scored.groups is None or label == TRAIN:
        return scores

    def of_group(rows: np.ndarray, code: int) -> Scores:
        return _some_rows(draws, noise, rows, scored, [scored.seed, label, code])

    return scores | {"groups": score_groups(scored.groups, chosen, of_group)}


def _some_rows(
    draws: np.ndarray,
    noise: PredictiveNoise,
    chosen: np.ndarray,
    scored: ScoringProblem,
    seed: Sequence[int],
    features: np.ndarray | None = None,
) -> Scores:
    """Score the chosen rows (point,), also in the worst slab of features (chosen, feature)."""
    rows, rng = scored.rows, np.random.default_rng(seed)
    known = rows.scale_uncertainty
    predicted, observed, here = draws[:, chosen], rows.observed[chosen], select_rows(noise, chosen)
    mean, sd, total_sd = predictive_moments(predicted, here)
    pit = predictive_cdf(predicted, observed, here)
    z_total, z_epistemic = (standardised_residuals(observed, mean, each) for each in (total_sd, sd))
    return {
        **evaluate(
            *(predicted, observed, here, rng),
            scale=scored.target.scale,
            own=scored.own,
            features=features,
        ),
        **coverage_by_decile(pit, rows.covariate[chosen]),
        **pull_counts(z_total, z_epistemic),
        **scale_shares(mean, total_sd, observed, None if known is None else known[chosen]),
    }


def _spread(draws: np.ndarray, scored: ScoringProblem) -> Spread:
    """Test whether the spread of train and validation residuals changes along the prediction."""
    rows = scored.rows
    known = np.isin(rows.split, [TRAIN, VALIDATION])
    trained = (rows.split == TRAIN) & (not scored.left_out)
    return spread_along(draws[:, known], rows.observed[known], trained[known])


def _halves(draws: np.ndarray, scored: ScoringProblem, *, changes: bool) -> Halves:
    """Score the held-out rows by noise that was fitted on the other half."""
    rows, held = scored.rows, scored.held
    points = HeldOutRows(
        draws[:, held], rows.observed[held], rows.covariate[held], scored.features[held]
    )
    seed = [scored.seed, len(SPLITS)]
    if scored.family == "auto":
        return choose_family(points, seed, changes=changes)
    return halved_scores(points, np.random.default_rng(seed), family=scored.family)
