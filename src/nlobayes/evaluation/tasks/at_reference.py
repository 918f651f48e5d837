"""Draws at the reference points: scores of any choice of them, and what they are worth."""

from collections.abc import Callable
from functools import partial

import numpy as np
from scipy.special import softmax

from nlobayes.data.splits import TEST, VALIDATION
from nlobayes.data.transforms import (
    CLASSES,
    apply_scale,
    reference_of,
    target_transform,
    unstandardise,
)
from nlobayes.diagnostics.convergence import FEWEST_DRAWS, ess_bulk
from nlobayes.evaluation.predictive.noise_fit import fit_noise, noise_at_points
from nlobayes.evaluation.predictive.predictive_density import log_predictive_density
from nlobayes.evaluation.run_evaluation import ScoredDraws
from nlobayes.evaluation.scores.classification.classes import classification_scores, predict_classes
from nlobayes.evaluation.scores.regression.proper_scores import crps_per_point
from nlobayes.evaluation.tasks.task import ScoringData
from nlobayes.types import Dataset


def scored_at_reference(
    function: np.ndarray, data: Dataset
) -> tuple[np.ndarray, Callable[[np.ndarray], dict[str, float]]]:
    """Transform draws to what is scored, and build the scores of some of them.

    The noise is fitted at reference points of the validation split, and scores are of those of the
    test split. If one of these splits has no reference point, both use all points.

    Parameters
    ----------
    function
        The network at the reference points in its own units (chain, draw, reference_point), with a
        last axis (output) where it has several.
    data
        Dataset of the reference points.

    Returns
    -------
    The targets on the model scale, or logits (chain, draw, reference_point x output), and a
    function that scores draws of these (sample, reference_point x output).
    """
    target, split = target_transform(data.transforms), data.split[data.reference]
    function = function.astype(np.float64)
    outputs = function.reshape(*function.shape[:3], -1)
    fitted, scored = split == VALIDATION, split == TEST
    if not (fitted.any() and scored.any()):
        fitted = scored = np.ones(len(split), bool)
    if target.scale == CLASSES:
        labels = data.target[data.reference]
        score = partial(_score_classes, labels=labels, scored=scored)
    else:
        of_targets = outputs[..., : len(data.target_names)]
        outputs = unstandardise(target, of_targets, reference_of(data, data.reference))
        observed = apply_scale(target, data.observed[data.reference]).reshape(len(split), -1)
        score = partial(_score_outputs, observed=observed, fitted=fitted, scored=scored)
    return outputs.reshape(*outputs.shape[:2], -1), score


def count_scored(given: ScoringData) -> ScoredDraws:
    """Count the draws that are scored, and estimate what they are worth at reference points."""
    function = given.posterior.function[:, given.data.reference]
    draws = function.reshape(given.chains, len(function) // given.chains, -1)
    are_chains = given.chains > 1 and draws.shape[1] >= FEWEST_DRAWS
    effective = ess_bulk(draws) if are_chains else None
    return {
        "draws_scored": len(function),
        "ess_scored_median": None if effective is None else float(np.median(effective)),
        "ess_scored_min": None if effective is None else float(effective.min()),
    }


def _score_outputs(
    draws: np.ndarray, *, observed: np.ndarray, fitted: np.ndarray, scored: np.ndarray
) -> dict[str, float]:
    """Average the scores of all outputs of draws (sample, point x output)."""
    outputs = np.moveaxis(draws.reshape(len(draws), *observed.shape), 2, 0)
    found = [
        _score_output(one[:, fitted], one[:, scored], seen[fitted], seen[scored])
        for one, seen in zip(outputs, observed.T, strict=True)
    ]
    return {name: float(np.mean([scores[name] for scores in found])) for name in found[0]}


def _score_output(
    held: np.ndarray, predicted: np.ndarray, held_seen: np.ndarray, seen: np.ndarray
) -> dict[str, float]:
    noise = noise_at_points(fit_noise(held, held_seen, family="gaussian"), predicted)
    error = predicted.mean(axis=0) - seen
    return {
        "rmse": float(np.sqrt(np.mean(error**2))),
        "crps": float(crps_per_point(predicted, seen, noise, np.random.default_rng(0)).mean()),
        "lppd": float(log_predictive_density(predicted, seen, noise).mean()),
    }


def _score_classes(
    draws: np.ndarray, *, labels: np.ndarray, scored: np.ndarray
) -> dict[str, float]:
    """Score the logits (sample, point x output) of classes, which have no RMSE."""
    logits = draws.reshape(len(draws), len(labels), -1)[:, scored]
    if logits.shape[2] == 1:
        logits = np.concatenate([np.zeros_like(logits), logits], axis=2)
    predicted = predict_classes(softmax(logits, axis=2))
    lppd = classification_scores(predicted, labels[scored])["lppd"]
    return {"rmse": np.nan, "crps": np.nan, "lppd": np.nan if isinstance(lppd, str) else lppd}
