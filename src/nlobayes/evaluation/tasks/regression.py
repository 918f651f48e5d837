"""Regression: the scores of the posterior and of its baselines, and their tables.

The baselines are the MAPs as an ensemble, the first of them alone, and least squares on the
features.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.special import ndtri

from nlobayes.checks import CalibrationCheck
from nlobayes.data.splits import SPLITS, TEST, TRAIN
from nlobayes.data.transforms import (
    TargetTransform,
    apply_scale,
    offset_of,
    target_transform,
    unstandardise,
)
from nlobayes.errors import InputError
from nlobayes.evaluation.calibration.calibration import CENTRAL_LEVELS
from nlobayes.evaluation.calibration.calibration_checks import coverage_of_thirds
from nlobayes.evaluation.calibration.conditional import distance_to_training
from nlobayes.evaluation.comparison.differences import estimate
from nlobayes.evaluation.predictive.fitted import FittedNoise
from nlobayes.evaluation.predictive.noise_fit import noise_at_points
from nlobayes.evaluation.predictive.predictive_density import (
    PredictiveNoise,
    log_predictive_density,
    select_rows,
)
from nlobayes.evaluation.run_evaluation import Difference, Ensemble, Evaluation, LeastSquares, Rival
from nlobayes.evaluation.scores import least_squares
from nlobayes.evaluation.tables import curves
from nlobayes.evaluation.tables import predictions as of_predictions
from nlobayes.evaluation.tables.predictions import Rows
from nlobayes.evaluation.tables.regressors import regressors
from nlobayes.evaluation.tasks.outputs import join, one_by_one
from nlobayes.evaluation.tasks.scored_splits import ScoringProblem, score_splits, score_test
from nlobayes.evaluation.tasks.stated import log_likelihood_of_numbers, score_stated_noise
from nlobayes.evaluation.tasks.task import Choices, ScoringData
from nlobayes.types import Columns, RivalPrediction

SCALES: tuple[str, ...] = ("log10", "identity")
log_likelihood = log_likelihood_of_numbers
RMSE_LOG10, RMSE_TARGET = "rmse_log10", "rmse_target"


def score(given: ScoringData, choices: Choices) -> Evaluation:
    """Fit the predictive noise on held-out rows and score every split, target by target."""
    if len(given.data.target_names) == 1:
        return _score_target(given, choices)
    return join({name: _score_target(one, choices) for name, one in one_by_one(given)})


def measure(given: ScoringData, predicted: np.ndarray, rows: np.ndarray) -> tuple[str, np.ndarray]:
    """Return the RMSE of predictions on the model scale; for several targets its mean.

    Parameters
    ----------
    given
        The observed values.
    predicted
        Predictions (each, point), or (each, point, output), of all points.
    rows
        The points to include (point,).

    Returns
    -------
    Its key, and a value for each of the predictions (each,).
    """
    target = target_transform(given.data.transforms)
    observed = apply_scale(target, given.data.observed)[rows]
    squares = np.square(predicted[:, rows].astype(np.float64) - observed).mean(axis=1)
    each = np.sqrt(squares).reshape(len(squares), -1).mean(axis=1)
    return RMSE_LOG10 if target.scale == "log10" else RMSE_TARGET, each


def tables(given: ScoringData, choices: Choices, scores: Evaluation) -> dict[str, Columns]:
    """Tabulate the prediction of every point, and the calibration of the error bars.

    Raises InputError if the scores do not state which noise was fitted.
    """
    rows, scale = _rows(given), _target(given).scale
    draws, rng = _draws(given), np.random.default_rng(choices.seed)
    fitted = _fitted(scores.get("predictive_noise"))
    noise = noise_at_points(fitted, draws, given.data.features)
    predicted = of_predictions.predictions(draws, rows, noise, scale=scale)
    return {
        "predictions": predicted,
        "coverage": of_predictions.coverage(predicted, draws, noise),
        "levels": of_predictions.levels(predicted),
        "pit": of_predictions.pit(predicted, fitted_to=_fitted_to(predicted, scores)),
        "conditional": of_predictions.conditional(predicted),
        "deciles": of_predictions.deciles(draws, rows, noise, rng, scale=scale),
        "cases": of_predictions.cases(draws, rows, noise, rng, choices.cases),
        "calibration_checks": _checks(predicted, choices, scores),
        "regressors": regressors(scores),
        **_curves(given, noise),
    }


def _curves(given: ScoringData, noise: PredictiveNoise) -> dict[str, Columns]:
    """Tabulate curves over the test rows of data with one input; other data give no rows."""
    one_input = len(given.data.input_names) == 1
    test = np.flatnonzero((given.data.split == TEST) & one_input)
    test = test[np.argsort(given.covariate[test], kind="stable")]
    draws, maps = (all_rows[:, test] for all_rows in (_draws(given), given.baseline.function))
    along = given.covariate[test]
    return curves.tables(draws, maps, given.chains, along, select_rows(noise, test))


def _score_target(given: ScoringData, choices: Choices) -> Evaluation:
    """Score the one target of a dataset."""
    posterior, members = _draws(given), given.baseline.function.astype(np.float64)
    data, chosen = given.data, (choices.seed, choices.noise)
    scored = ScoringProblem(
        _rows(given), data.features, _target(given), *chosen, data.groups, choices.own
    )
    of_networks = scored._replace(left_out=choices.left_out)
    found, noise = score_splits(posterior, of_networks, drawn=True)
    scores: Evaluation = {**found}
    scores["baseline"] = _ensemble(members, of_networks)
    family = scores["baseline"]["predictive_noise"]["family"]
    scores["map"] = score_test(members[:1], family, of_networks)
    scores["linear"] = _least_squares(given, scored)
    if given.rivals:
        density = _density_of_test(posterior, noise, scored)
        scores["rivals"] = score_rivals(given.rivals, scored, density)
    scores.update(score_stated_noise(given))
    predicted = of_predictions.predictions(posterior, scored.rows, noise, scale=scored.target.scale)
    scores["spread"]["coverage_68"] = _coverage_of_thirds(predicted, choices)
    scores["calibration_checks"] = _checks_by_name(_checks(predicted, choices, scores))
    return scores


def _draws(given: ScoringData) -> np.ndarray:
    """Take f of every draw (draw, point) on the model scale."""
    return given.posterior.function.astype(np.float64)


def _target(given: ScoringData) -> TargetTransform:
    return target_transform(given.data.transforms)


def score_rivals(
    rivals: Mapping[str, RivalPrediction], scored: ScoringProblem, density: np.ndarray
) -> dict[str, Rival]:
    """Score each rival like the posterior, with its own noise.

    `lppd_difference` is the mean by which its log density of a test row is above `density`
    (test row,), that of the posterior, with its error and 95 % interval over the rows.
    """
    return {name: _rival(rival, scored, density) for name, rival in rivals.items()}


def _rival(rival: RivalPrediction, scored: ScoringProblem, density: np.ndarray) -> Rival:
    if rival.missing is not None:
        return {"missing": rival.missing}
    found, noise = score_splits(rival.function, scored)
    paired = estimate(_density_of_test(rival.function, noise, scored) - density)
    difference: Difference = {
        "size": float(paired.size),
        "mean": paired.mean,
        "standard_error": _plain(paired.standard_error),
        "low": _plain(paired.low),
        "high": _plain(paired.high),
    }
    scores: Rival = {**found, "facts": dict(rival.facts), "lppd_difference": difference}
    if rival.sd is not None:
        mean, test = rival.function.mean(axis=0), scored.rows.split == TEST
        scores["own"] = own_account(mean[test], rival.sd[test], scored.rows.observed[test])
    return scores


def own_account(mean: np.ndarray, sd: np.ndarray, observed: np.ndarray) -> dict[str, float]:
    """Score Gaussian error bars that a regressor states: coverage, and log score in nats.

    All arrays are (point,).
    """
    from scipy.stats import norm

    pull = np.abs(observed - mean) / sd
    within = {
        name: ndtri((1 + CENTRAL_LEVELS[name]) / 2) for name in ("coverage_68", "coverage_95")
    }
    covered = {name: float(np.mean(pull <= limit)) for name, limit in within.items()}
    return {**covered, "lppd": float(np.mean(norm.logpdf(observed, mean, sd)))}


def _density_of_test(
    draws: np.ndarray, noise: PredictiveNoise, scored: ScoringProblem
) -> np.ndarray:
    test = scored.rows.split == TEST
    return log_predictive_density(
        draws[:, test], scored.rows.observed[test], select_rows(noise, test)
    )


def _rows(given: ScoringData) -> Rows:
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


def _coverage_of_thirds(predicted: Columns, choices: Choices) -> list[CalibrationCheck]:
    """Check coverage along the prediction on validation and test rows."""
    held = predicted["split"] != SPLITS[TRAIN]
    mean, pit = predicted["mean"][held], predicted["pit"][held]
    tested = int((predicted["split"] == SPLITS[TEST]).sum())
    return coverage_of_thirds(mean, pit, tested=tested, tolerance=choices.coverage_tolerance)


def _ensemble(members: np.ndarray, scored: ScoringProblem) -> Ensemble:
    """Score the MAPs as an ensemble, with its own noise, and the RMSE of each."""
    test = scored.rows.split == TEST
    error = members[:, test] - scored.rows.observed[test]
    space = "log10" if scored.target.scale == "log10" else "target"
    rmse = [float(value) for value in np.sqrt(np.mean(error**2, axis=1))]
    scores, _ = score_splits(members, scored, drawn=True)
    return {**scores, "members": {f"rmse_{space}_test": rmse}}


def _least_squares(given: ScoringData, scored: ScoringProblem) -> LeastSquares:
    """Score least squares on the features; coefficients in units of the network."""
    data, train = given.data, given.data.split == TRAIN
    fitted = least_squares.fit(data.features[train], data.target[train])
    plane = least_squares.predict(fitted, data.features)
    plane = unstandardise(scored.target, plane, data.relative_to)
    scores, _ = score_splits(plane[np.newaxis], scored)
    named = zip(("intercept", *data.feature_names), *fitted[:2], strict=True)
    coefficients = {
        name: {"value": _plain(value), "standard_error": _plain(error)}
        for name, value, error in named
    }
    return {**scores, "coefficients": coefficients}


def _fitted_to(predicted: Columns, scores: Evaluation) -> int:
    """Count the rows to which the noise is fitted."""
    splits = scores["predictive_noise"]["fitted_on"].split(" and ")
    return int(np.isin(predicted["split"], splits).sum())


def _checks(predicted: Columns, choices: Choices, scores: Evaluation) -> Columns:
    """Check the calibration on the test split, within tolerances."""
    return of_predictions.calibration_checks(
        predicted,
        fitted_to=_fitted_to(predicted, scores),
        coverage_tolerance=choices.coverage_tolerance,
        chi2_tolerance=choices.chi2_tolerance,
    )


def _checks_by_name(checks: Columns) -> dict[str, CalibrationCheck]:
    return {
        str(name): {
            "value": _plain(value),
            "low": _plain(low),
            "high": _plain(high),
            "passed": bool(passed),
        }
        for name, value, low, high, passed in zip(
            *(checks[column] for column in ("check", "value", "low", "high", "passed")), strict=True
        )
    }


def _fitted(noise: Any) -> FittedNoise:
    """Take the noise that was fitted on the held-out rows."""
    try:
        return FittedNoise(**{name: noise[name] for name in FittedNoise._fields})
    except (KeyError, TypeError):
        raise InputError(
            "evaluation.no_fitted_noise", noise=noise, needed=FittedNoise._fields
        ) from None


def _plain(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
