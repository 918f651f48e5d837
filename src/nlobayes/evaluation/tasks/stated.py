"""Scores of the predictive distribution of the likelihood itself, with LOO and WAIC."""

from __future__ import annotations

import math

import numpy as np

from nlobayes.data.splits import SPLITS, TRAIN
from nlobayes.data.transforms import apply_scale, target_transform
from nlobayes.distributions.distribution import Law, point_chunks
from nlobayes.distributions.laws import LAWS
from nlobayes.errors import InputError
from nlobayes.evaluation import monte_carlo
from nlobayes.evaluation.run_evaluation import Evaluation, Scores, StatedNoise
from nlobayes.evaluation.scores import information
from nlobayes.evaluation.tasks.outputs import one_by_one
from nlobayes.evaluation.tasks.task import ScoringData
from nlobayes.metrics.shown import MONTE_CARLO
from nlobayes.types import PredictedDraws


def score_stated_noise(given: ScoringData) -> Evaluation:
    """Score every split with the noise of the likelihood, and compare models by the train rows."""
    data, predicted = given.data, given.posterior
    draws, noise = predicted.function.astype(np.float64), _law(predicted)
    observed = _observed(given)
    each = (data.split == split for split in range(len(SPLITS)))
    train, val, test = (scores(draws[:, rows], observed[rows], noise.at(rows)) for rows in each)
    stated: StatedNoise = {
        "family": predicted.family,
        "declared": _declared(noise),
        "train": train,
        "val": val,
        "test": test,
    }
    learned = data.split == TRAIN
    residual = observed[learned] - draws[:, learned]
    return {"stated_noise": stated, **_compare(noise.at(learned).logpdf(residual), given)}


def compare_classes(given: ScoringData) -> Evaluation:
    """Compare models of classes by the train rows."""
    return _compare(log_likelihood_of_classes(given, given.data.split == TRAIN), given)


def log_likelihood_of_numbers(given: ScoringData, rows: np.ndarray) -> np.ndarray:
    """Return the log likelihood (draw, row) of rows (point,) under every draw, of all targets."""
    several = len(given.data.target_names) > 1
    each = [one for _, one in one_by_one(given)] if several else [given]
    return np.sum([_log_likelihood(one, rows) for one in each], axis=0)


def log_likelihood_of_classes(given: ScoringData, rows: np.ndarray) -> np.ndarray:
    """Return the log probability (draw, row) of the true class of rows (point,) by every draw."""
    probabilities = given.posterior.function[:, rows]
    true = given.data.target[rows].astype(int)
    smallest = np.finfo(probabilities.dtype).tiny
    of_true = np.take_along_axis(probabilities, true[np.newaxis, :, np.newaxis], axis=2)[..., 0]
    return np.log(np.maximum(of_true.astype(np.float64), smallest))


def _log_likelihood(given: ScoringData, rows: np.ndarray) -> np.ndarray:
    """Return the log likelihood (draw, row) of the one target of a dataset."""
    residual = _observed(given)[rows] - given.posterior.function[:, rows].astype(np.float64)
    density: np.ndarray = _law(given.posterior).at(rows).logpdf(residual)
    return density


def _observed(given: ScoringData) -> np.ndarray:
    """Take the target on the model scale."""
    target = target_transform(given.data.transforms)
    return apply_scale(target, given.data.observed)


def _declared(noise: Law) -> float | None:
    """Return the fixed scale, which is equal in all draws; the median if rows differ."""
    learned = np.any(np.ptp(noise.scale, axis=0) > 0)
    return None if learned else float(np.median(noise.scale))


def _law(predicted: PredictedDraws) -> Law:
    if predicted.family is None or predicted.scale is None:
        raise InputError("evaluation.no_stated_noise")
    if predicted.family not in LAWS:
        raise InputError(
            "evaluation.unknown_stated_noise", family=predicted.family, known=list(LAWS)
        )
    law: Law = LAWS[predicted.family].build(
        scale=predicted.scale, degrees_of_freedom=predicted.degrees_of_freedom
    )
    return law


def _compare(log_likelihood: np.ndarray, given: ScoringData) -> Evaluation:
    """Estimate LOO and WAIC; None and the reason if draws are too few or not of the posterior.

    Equal draws have no k.
    """
    by_chain = log_likelihood.reshape(given.chains, -1, log_likelihood.shape[-1])
    try:
        if given.approximate:
            raise InputError("evaluation.loo_of_approximation")
        estimates = information.information(by_chain)
    except InputError as error:
        return {"loo": None, "waic": None, "undefined": {"loo": str(error)}}
    loo, waic = (
        {key: value if math.isfinite(value) else None for key, value in found.items()}
        for found in information.summary(estimates).values()
    )
    rows = [float(f"{elpd:.6g}") for elpd in estimates.loo]
    return {"loo": {**loo, "elpd_of_rows": rows}, "waic": waic}


def scores(draws: np.ndarray, observed: np.ndarray, noise: Law) -> Scores:
    """Score the predictive of the model on one split.

    Parameters
    ----------
    draws
        Function draws on the model scale (draw, point).
    observed
        Observed targets on the model scale (point,).
    noise
        The law at these points; its scale broadcasts over (draw, point).

    Returns
    -------
    `lppd` and its `lppd_se` (nats per point), `coverage_68` and `coverage_95` of central intervals;
    `monte_carlo_error`, that of each by key, None for one draw.
    """
    batch = monte_carlo.batches_of(len(draws))
    density, probability = _sums(draws, observed, noise, np.flatnonzero(np.diff(batch, prepend=-1)))
    counts = np.bincount(batch)

    def of(batches: np.ndarray) -> Scores:
        draws = counts[batches].sum()
        lppd = np.logaddexp.reduce(density[batches]) - np.log(draws)
        off_centre = np.abs(probability[batches].sum(axis=0) / draws - 0.5)
        return {
            "lppd": float(lppd.mean()),
            "lppd_se": float(lppd.std(ddof=1) / np.sqrt(len(lppd))) if len(lppd) > 1 else None,
            "coverage_68": float(np.mean(off_centre < 0.68 / 2)),
            "coverage_95": float(np.mean(off_centre < 0.95 / 2)),
        }

    halves = monte_carlo.balanced_halves(len(counts))
    errors = monte_carlo.errors_of_halves([(of(half), of(~half)) for half in halves])
    return {**of(np.ones(len(counts), bool)), MONTE_CARLO: errors}


def _sums(
    draws: np.ndarray, observed: np.ndarray, noise: Law, starts: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Sum density, as a logarithm, and distribution function over batches of draws (batch, point).

    `starts` (batch,) is the first draw of each batch.
    """
    parts = []
    for part in point_chunks(*draws.shape):
        law, residual = noise.at(part), observed[part] - draws[:, part]
        density = np.logaddexp.reduceat(law.logpdf(residual), starts)
        parts.append((density, np.add.reduceat(law.cdf(residual), starts)))
    density, probability = np.concatenate(parts, axis=2)
    return density, probability
