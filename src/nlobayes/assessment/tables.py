"""The tables behind the figures: columns of equal length, by name."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from typing import NamedTuple

import numpy as np

from nlobayes.assessment import calibration, convergence, noise, scores
from nlobayes.assessment.autocorrelation import autocorrelation
from nlobayes.assessment.noise import PredictiveNoise

Columns = dict[str, np.ndarray]

SPLITS = ("train", "val", "test")
TRACE_POINTS, LAGS, CASE_DRAWS = 500, 100, 2000
GOOD, BAD = 0.5, 0.99
"""Quantiles of the absolute test residual at which a good and a bad case are taken."""


class Rows(NamedTuple):
    """Per point: split label, observed target in log10, mass in GeV."""

    split: np.ndarray
    observed: np.ndarray
    mass_gev: np.ndarray


def trace(log_density: np.ndarray, noise: np.ndarray | None) -> Columns:
    """Tabulate log density and noise (chain, draw), thinned to at most 500 draws per chain."""
    chains, draws = log_density.shape
    kept = np.arange(0, draws, ceil(draws / TRACE_POINTS))
    noises = np.full((chains, len(kept)), np.nan) if noise is None else noise[:, kept]
    return {
        "chain": np.repeat(np.arange(chains), len(kept)),
        "draw": np.tile(kept, chains),
        "log_density": log_density[:, kept].ravel(),
        "noise": noises.ravel(),
    }


def per_point(function: np.ndarray) -> Columns:
    """Tabulate R-hat and ESS of the function draws (chain, draw, reference_point)."""
    return {
        "reference_point": np.arange(function.shape[2]),
        "rhat": convergence.rhat(function),
        "ess_bulk": convergence.ess_bulk(function),
        "ess_tail": convergence.ess_tail(function),
    }


def correlations(function: np.ndarray, log_density: np.ndarray) -> Columns:
    """Tabulate the autocorrelation of predictions, over reference points, and of the density."""
    lags = min(LAGS, function.shape[1])
    of_function = autocorrelation(function)[:lags]
    return {
        "lag": np.arange(lags),
        "f_mean": of_function.mean(axis=1),
        "f_p10": np.percentile(of_function, 10, axis=1),
        "f_p90": np.percentile(of_function, 90, axis=1),
        "log_density": autocorrelation(log_density)[:lags],
    }


def losses(loss: Sequence[np.ndarray], validation_rmse: Sequence[np.ndarray]) -> Columns:
    """Tabulate the history of pretraining of each chain (epoch,)."""
    epochs = [len(history) for history in loss]
    return {
        "chain": np.repeat(np.arange(len(loss)), epochs),
        "epoch": np.concatenate([np.arange(1, n + 1) for n in epochs]),
        "train_loss": np.concatenate(loss),
        "validation_rmse": np.concatenate(validation_rmse),
    }


def predictions(draws: np.ndarray, rows: Rows, noise: PredictiveNoise) -> Columns:
    """Tabulate the prediction of every point of every split from draws (sample, point)."""
    parts = []
    for label, name in enumerate(SPLITS):
        points = np.flatnonzero(rows.split == label)
        observed = rows.observed[points]
        table = scores.predictions_table(draws[:, points], observed, noise)
        parts.append(
            {
                "split": np.full(len(points), name),
                "point": points,
                "mass_gev": rows.mass_gev[points],
                "target_log10": observed,
                "target_pb": 10**observed,
                "median_pb": table.pop("median_target"),
                "mean_pb": table.pop("mean_target"),
                **table,
            }
        )
    return _stack(parts)


def coverage(draws: np.ndarray, rows: Rows, noise: PredictiveNoise) -> Columns:
    """Tabulate coverage at 1 to 5 standard deviations for every split."""
    parts = []
    for label, name in enumerate(SPLITS):
        points = rows.split == label
        widths = np.asarray(calibration.COVERAGE_MULTIPLES)
        table = calibration.coverage_table(draws[:, points], rows.observed[points], noise, k=widths)
        parts.append({"split": np.full(len(widths), name), **table})
    return _stack(parts)


def cases(
    draws: np.ndarray, rows: Rows, fitted: PredictiveNoise, rng: np.random.Generator
) -> Columns:
    """Tabulate noisy predictive draws of a typical and of a badly predicted test point."""
    test = np.flatnonzero(rows.split == SPLITS.index("test"))
    mean, _, total_sd = noise.predictive_moments(draws[:, test], fitted)
    order = np.argsort(np.abs(mean - rows.observed[test]))
    chosen = {"good": GOOD, "bad": BAD}
    parts = []
    for case, quantile in chosen.items():
        index = order[int(quantile * (len(order) - 1))]
        sampled = rng.choice(draws[:, test[index]], CASE_DRAWS)
        sampled = sampled + noise.sample(fitted, rng, (CASE_DRAWS,))
        parts.append(
            {
                "case": np.full(CASE_DRAWS, case),
                "point": np.full(CASE_DRAWS, test[index]),
                "target_log10": np.full(CASE_DRAWS, rows.observed[test[index]]),
                "draw_log10": sampled,
                "mean_log10": np.full(CASE_DRAWS, mean[index]),
                "total_sd_log10": np.full(CASE_DRAWS, total_sd[index]),
            }
        )
    return _stack(parts)


def _stack(parts: Sequence[Columns]) -> Columns:
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
