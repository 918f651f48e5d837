"""Regression: the scores of the posterior and of two baselines, and their tables.

The baselines are the MAPs as an ensemble, and least squares on the features.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from nlobayes.data.splits import SPLITS, TEST, TRAIN, VALIDATION
from nlobayes.data.transforms import (
    TargetTransform,
    apply_scale,
    offset_of,
    target_transform,
    unstandardise,
)
from nlobayes.errors import InputError
from nlobayes.evaluation.calibration.calibration import standardised_residuals
from nlobayes.evaluation.calibration.conditional import (
    coverage_by_decile,
    distance_to_training,
    scale_shares,
)
from nlobayes.evaluation.calibration.pull_counts import pull_counts
from nlobayes.evaluation.calibration.spread import coverage_of_thirds, spread_along
from nlobayes.evaluation.comparison.runs import estimate
from nlobayes.evaluation.predictive.density import (
    log_predictive_density,
    predictive_cdf,
    predictive_moments,
)
from nlobayes.evaluation.predictive.fitted import FittedNoise
from nlobayes.evaluation.predictive.noise import PredictiveNoise, at_rows
from nlobayes.evaluation.predictive.noise_fit import at_points, fit_noise
from nlobayes.evaluation.scores import linear
from nlobayes.evaluation.scores.of_groups import score_groups
from nlobayes.evaluation.scores.of_split import evaluate
from nlobayes.evaluation.scores.own import NO_OWN, OwnScores
from nlobayes.evaluation.scores.own_account import own_account
from nlobayes.evaluation.tables import curves
from nlobayes.evaluation.tables import predictions as of_predictions
from nlobayes.evaluation.tables.predictions import Rows
from nlobayes.evaluation.tasks.halves import Held, choose_family, halved_scores
from nlobayes.evaluation.tasks.measures import rmse_of_numbers
from nlobayes.evaluation.tasks.outputs import join, one_by_one
from nlobayes.evaluation.tasks.stated import log_likelihood_of_numbers, score_stated_noise
from nlobayes.evaluation.tasks.task import Choices, Given, Scores
from nlobayes.types import Columns, RivalPrediction, RowGroups

SCALES: tuple[str, ...] = ("log10", "identity")
NEEDS: tuple[str, ...] = ("predictive_noise",)
log_likelihood = log_likelihood_of_numbers
measure = rmse_of_numbers


class Scored(NamedTuple):
    """The inputs of scores of a posterior and its baselines; the family may be `auto`.

    `groups` names groups of rows that are also scored separately; None if there are none. `own` are
    custom scores.
    """

    rows: Rows
    features: np.ndarray
    target: TargetTransform
    seed: int
    family: str
    groups: RowGroups | None
    own: OwnScores = NO_OWN


def score(given: Given, choices: Choices) -> Scores:
    """Fit the predictive noise on validation rows and score every split, target by target."""
    if len(given.data.target_names) == 1:
        return _score_target(given, choices)
    return join({name: _score_target(one, choices) for name, one in one_by_one(given)})


def tables(given: Given, choices: Choices, scores: Mapping[str, Any]) -> dict[str, Columns]:
    """Tabulate the prediction of every point, and the calibration of the error bars.

    Raises
    ------
    InputError
        If the scores do not state which noise was fitted.
    """
    rows, scale = _rows(given), _target(given).scale
    draws, rng = _draws(given), np.random.default_rng(choices.seed)
    fitted = _fitted(scores["predictive_noise"])
    noise = at_points(fitted, draws, given.data.features)
    predicted = of_predictions.predictions(draws, rows, noise, scale=scale)
    return {
        "predictions": predicted,
        "coverage": of_predictions.coverage(predicted, draws, noise),
        "levels": of_predictions.levels(predicted),
        "pit": of_predictions.pit(predicted, fitted_to=_held(predicted)),
        "conditional": of_predictions.conditional(predicted),
        "deciles": of_predictions.deciles(draws, rows, noise, rng, scale=scale),
        "cases": of_predictions.cases(draws, rows, noise, rng, choices.cases),
        "calibration_checks": _checks(predicted, choices),
        **_curves(given, noise),
    }


def _curves(given: Given, noise: PredictiveNoise) -> dict[str, Columns]:
    """Tabulate curves over the test rows of data with one input; other data give no rows."""
    one_input = len(given.data.input_names) == 1
    test = np.flatnonzero((given.data.split == TEST) & one_input)
    test = test[np.argsort(given.covariate[test], kind="stable")]
    draws, maps = (all_rows[:, test] for all_rows in (_draws(given), given.baseline.function))
    along = given.covariate[test]
    return curves.tables(draws, maps, given.chains, along, at_rows(noise, test))


def _score_target(given: Given, choices: Choices) -> Scores:
    """Score the one target of a dataset."""
    posterior = _draws(given)
    data, chosen = given.data, (choices.seed, choices.noise)
    scored = Scored(_rows(given), data.features, _target(given), *chosen, data.groups, choices.own)
    scores, noise = _every_split(posterior, scored)
    scores["baseline"] = _ensemble(given.baseline.function, scored)
    scores["linear"] = _least_squares(given, scored)
    if given.rivals:
        density = _density_of_test(posterior, noise, scored)
        scores["rivals"] = score_rivals(given.rivals, scored, density)
    scores |= score_stated_noise(given)
    predicted = of_predictions.predictions(posterior, scored.rows, noise, scale=scored.target.scale)
    scores["spread"] |= {"coverage_68": _coverage_of_thirds(predicted, choices)}
    return scores | {"calibration_checks": _checks_by_name(_checks(predicted, choices))}


def _draws(given: Given) -> np.ndarray:
    """Take f of every draw (draw, point) on the model scale."""
    return given.posterior.function.astype(np.float64)


def _target(given: Given) -> TargetTransform:
    return target_transform(given.data.transforms)


def score_rivals(
    rivals: Mapping[str, RivalPrediction], scored: Scored, density: np.ndarray
) -> dict[str, Scores]:
    """Score each rival like the posterior, with its own noise.

    `lppd_difference` is the mean by which its log density of a test row is above `density`
    (test row,), that of the posterior, with its error and 95 % interval over the rows.
    """
    return {name: _rival(rival, scored, density) for name, rival in rivals.items()}


def _rival(rival: RivalPrediction, scored: Scored, density: np.ndarray) -> Scores:
    if rival.missing is not None:
        return {"missing": rival.missing}
    scores, noise = _every_split(rival.function, scored)
    paired = estimate(_density_of_test(rival.function, noise, scored) - density)
    difference = {name: _plain(value) for name, value in paired._asdict().items()}
    scores |= {"facts": dict(rival.facts), "lppd_difference": difference}
    if rival.sd is not None:
        mean, test = rival.function.mean(axis=0), scored.rows.split == TEST
        scores["own"] = own_account(mean[test], rival.sd[test], scored.rows.observed[test])
    return scores


def _density_of_test(draws: np.ndarray, noise: PredictiveNoise, scored: Scored) -> np.ndarray:
    test = scored.rows.split == TEST
    return log_predictive_density(draws[:, test], scored.rows.observed[test], at_rows(noise, test))


def _rows(given: Given) -> Rows:
    """Collect the facts of every point, with the target on the model scale."""
    data, target = given.data, _target(given)
    known = None if data.relative_to is None else offset_of(target, data.relative_to)
    return Rows(
        split=data.split,
        observed=apply_scale(target, data.observed),
        covariate=given.covariate,
        distance=distance_to_training(data.features, data.features[data.split == TRAIN]),
        scale_uncertainty=data.scale_uncertainty,
        reference=known,
    )


def _every_split(draws: np.ndarray, scored: Scored) -> tuple[Scores, PredictiveNoise]:
    """Choose and fit the noise on validation rows, and score every split with it."""
    rows, held = scored.rows, scored.rows.split == VALIDATION
    spread = _spread(draws, scored)
    halves = _halves(draws, scored, changes=spread["changes"])
    fitted = fit_noise(
        draws[:, held],
        rows.observed[held],
        family=halves["family"],
        features=scored.features[held],
        covariate=rows.covariate[held],
    )
    noise = at_points(fitted, draws, scored.features)
    scores: Scores = {
        name: _one_split(draws, noise, label, scored) for label, name in enumerate(SPLITS)
    }
    unit = "dex" if scored.target.scale == "log10" else "of the target"
    scores["predictive_noise"] = {**fitted._asdict(), "unit": unit, "fitted_on": "val"}
    return scores | {"spread": spread, "halves": halves}, noise


def _one_split(draws: np.ndarray, noise: PredictiveNoise, label: int, scored: Scored) -> Scores:
    """Score the rows of a split; score held-out rows also in groups."""
    chosen = scored.rows.split == label
    scored = scored._replace(own=scored.own._replace(place=SPLITS[label]))
    scores = _some_rows(draws, noise, chosen, scored, [scored.seed, label])
    if scored.groups is None or label == TRAIN:
        return scores

    def of_group(rows: np.ndarray, code: int) -> Scores:
        return _some_rows(draws, noise, rows, scored, [scored.seed, label, code])

    return scores | {"groups": score_groups(scored.groups, chosen, of_group)}


def _some_rows(
    draws: np.ndarray,
    noise: PredictiveNoise,
    chosen: np.ndarray,
    scored: Scored,
    seed: Sequence[int],
) -> Scores:
    """Score the chosen rows (point,)."""
    rows, rng = scored.rows, np.random.default_rng(seed)
    known = rows.scale_uncertainty
    predicted, observed, here = draws[:, chosen], rows.observed[chosen], at_rows(noise, chosen)
    mean, sd, total_sd = predictive_moments(predicted, here)
    pit = predictive_cdf(predicted, observed, here)
    z_total, z_epistemic = (standardised_residuals(observed, mean, each) for each in (total_sd, sd))
    return {
        **evaluate(predicted, observed, here, rng, scale=scored.target.scale, own=scored.own),
        **coverage_by_decile(pit, rows.covariate[chosen]),
        **pull_counts(z_total, z_epistemic),
        **scale_shares(mean, total_sd, observed, None if known is None else known[chosen]),
    }


def _spread(draws: np.ndarray, scored: Scored) -> Scores:
    """Test whether the spread of train and validation residuals changes along the prediction."""
    rows = scored.rows
    known = np.isin(rows.split, [TRAIN, VALIDATION])
    return spread_along(draws[:, known], rows.observed[known], rows.split[known] == TRAIN)


def _coverage_of_thirds(predicted: Columns, choices: Choices) -> list[Scores]:
    """Check coverage along the prediction on validation and test rows."""
    held = predicted["split"] != SPLITS[TRAIN]
    mean, pit = predicted["mean"][held], predicted["pit"][held]
    tested = len(pit) - _held(predicted)
    return coverage_of_thirds(mean, pit, tested=tested, tolerance=choices.coverage_tolerance)


def _halves(draws: np.ndarray, scored: Scored, *, changes: bool) -> Scores:
    """Score the validation rows by noise that was fitted on the other half."""
    rows, held = scored.rows, scored.rows.split == VALIDATION
    points = Held(draws[:, held], rows.observed[held], rows.covariate[held], scored.features[held])
    seed = [scored.seed, len(SPLITS)]
    if scored.family == "auto":
        return choose_family(points, seed, changes=changes)
    scores = halved_scores(points, np.random.default_rng(seed), family=scored.family)
    return {"family": scored.family, **scores}


def _ensemble(members: np.ndarray, scored: Scored) -> Scores:
    """Score the MAPs as an ensemble, with its own noise, and the RMSE of each."""
    members, test = members.astype(np.float64), scored.rows.split == TEST
    error = members[:, test] - scored.rows.observed[test]
    space = "log10" if scored.target.scale == "log10" else "target"
    rmse = [float(value) for value in np.sqrt(np.mean(error**2, axis=1))]
    scores, _ = _every_split(members, scored)
    return scores | {"members": {f"rmse_{space}_test": rmse}}


def _least_squares(given: Given, scored: Scored) -> Scores:
    """Score least squares on the features; coefficients in units of the network."""
    data, train = given.data, given.data.split == TRAIN
    fitted = linear.fit(data.features[train], data.target[train])
    plane = linear.predict(fitted, data.features)
    plane = unstandardise(scored.target, plane, data.relative_to)
    scores, _ = _every_split(plane[np.newaxis], scored)
    named = zip(("intercept", *data.feature_names), *fitted[:2], strict=True)
    coefficients = {
        name: {"value": _plain(value), "standard_error": _plain(error)}
        for name, value, error in named
    }
    return scores | {"coefficients": coefficients}


def _held(predicted: Columns) -> int:
    """Count the validation rows, to which the noise is fitted."""
    return int((predicted["split"] == SPLITS[VALIDATION]).sum())


def _checks(predicted: Columns, choices: Choices) -> Columns:
    """Check the calibration on the test split, within tolerances."""
    return of_predictions.calibration_checks(
        predicted,
        fitted_to=_held(predicted),
        coverage_tolerance=choices.coverage_tolerance,
        chi2_tolerance=choices.chi2_tolerance,
    )


def _checks_by_name(checks: Columns) -> Scores:
    rows = [dict(zip(checks, row, strict=True)) for row in zip(*checks.values(), strict=True)]
    return {
        str(row.pop("check")): {name: _plain(value) for name, value in row.items()} for row in rows
    }


def _fitted(noise: Any) -> FittedNoise:
    """Take the noise that was fitted on the validation rows."""
    try:
        return FittedNoise(**{name: noise[name] for name in FittedNoise._fields})
    except (KeyError, TypeError):
        raise InputError(
            "evaluation.no_fitted_noise", noise=noise, needed=FittedNoise._fields
        ) from None


def _plain(value: Any) -> Any:
    if isinstance(value, np.bool_ | bool):
        return bool(value)
    return float(value) if np.isfinite(value) else None
