"""Prior draws of f before any data, and the targets of the same rows."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from nlobayes.data.transforms import apply_scale, reference_of, target_transform, unstandardise
from nlobayes.types import Columns, Dataset

LEVELS = {"q2_5": 0.025, "q16": 0.16, "q50": 0.5, "q84": 0.84, "q97_5": 0.975}
SHOWN = 24
"""Draws whose f is tabulated row by row."""
LARGEST = "largest probability"


class PriorDraws(NamedTuple):
    """Draws of f from the prior at some rows, and the observed values there."""

    names: tuple[str, ...]
    """Name of each output."""
    covariate: np.ndarray
    """Order of the rows (row,)."""
    functions: np.ndarray
    """f on the model scale, or class probabilities (draw, row, output)."""
    observed: np.ndarray
    """Target on that scale; for classes 1 for the observed one and 0 for others (row, output). NaN
    if an output has no target."""


def draws_of_numbers(outputs: np.ndarray, data: Dataset, covariate: np.ndarray) -> PriorDraws:
    """Transform outputs (draw, row, ...) at the reference rows to the model scale.

    Outputs after the targets are no f. `covariate` (row,) orders the rows.
    """
    target = target_transform(data.transforms)
    of_targets = outputs.reshape(*outputs.shape[:2], -1)[..., : len(data.target_names)]
    observed = apply_scale(target, data.observed[data.reference])
    return PriorDraws(
        names=data.target_names,
        covariate=covariate,
        functions=unstandardise(target, of_targets, reference_of(data, data.reference)),
        observed=observed.reshape(len(covariate), -1),
    )


def draws_of_classes(probabilities: np.ndarray, data: Dataset, covariate: np.ndarray) -> PriorDraws:
    """Collect probabilities (draw, row, class) at the reference rows, and the largest of each."""
    labels = data.transforms["target"]["labels"]
    classes = data.target[data.reference].astype(int)
    draws = PriorDraws(
        names=tuple(f"probability of class {label:g}" for label in labels),
        covariate=covariate,
        functions=probabilities,
        observed=np.eye(len(labels))[classes],
    )
    return with_largest(draws)


def tabulate(draws: PriorDraws, data: Dataset, covariate: str) -> dict[str, Columns]:
    """Tabulate draws, quantiles and scales along the covariate of this label, and the labels."""
    draws = in_order(draws)
    return {
        "prior_draws": prior_draws(draws),
        "prior_quantiles": prior_quantiles(draws),
        "prior_scales": prior_scales(draws),
        "labels": _labels(draws, data, covariate),
    }


def with_largest(draws: PriorDraws) -> PriorDraws:
    """Insert the largest probability before those of the classes; it has no target."""
    functions, observed = draws.functions, draws.observed
    largest = functions.max(axis=2, keepdims=True)
    return draws._replace(
        names=(LARGEST, *draws.names),
        functions=np.concatenate([largest, functions], axis=2),
        observed=np.column_stack([np.full(len(observed), np.nan), observed]),
    )


def in_order(draws: PriorDraws) -> PriorDraws:
    """Order the rows by the covariate."""
    order = np.argsort(draws.covariate, kind="stable")
    return draws._replace(
        covariate=draws.covariate[order],
        functions=draws.functions[:, order],
        observed=draws.observed[order],
    )


def prior_draws(draws: PriorDraws) -> Columns:
    """Tabulate f of the first draws, row by row; cells that are not finite are NaN."""
    shown = np.moveaxis(draws.functions[:SHOWN], 2, 0)
    output, draw, row = (place.ravel() for place in np.indices(shown.shape))
    f = shown.ravel()
    return {
        "output": output,
        "draw": draw,
        "covariate": draws.covariate[row],
        "f": np.where(np.isfinite(f), f, np.nan),
    }


def prior_quantiles(draws: PriorDraws) -> Columns:
    """Tabulate quantiles of f at every row over the draws that are finite at all of them.

    `spread` is half the width of the central 68 %. Without such draws quantiles are NaN.
    """
    finite = np.isfinite(draws.functions).all(axis=(1, 2))
    rows, outputs = draws.observed.shape
    found = np.full((len(LEVELS), rows, outputs), np.nan)
    if finite.any():
        found = np.quantile(draws.functions[finite], [*LEVELS.values()], axis=0)
    quantiles = {name: level.T.ravel() for name, level in zip(LEVELS, found, strict=True)}
    return {
        "output": np.repeat(np.arange(outputs), rows),
        "covariate": np.tile(draws.covariate, outputs),
        **quantiles,
        "spread": (quantiles["q84"] - quantiles["q16"]) / 2,
        "observed": draws.observed.T.ravel(),
    }


def prior_scales(draws: PriorDraws) -> Columns:
    """Tabulate the variation over the rows of f of every draw, and of the target without a draw.

    Mean, standard deviation, mean absolute step between rows next to each other along the
    covariate, and range. A value that is not finite is NaN.
    """
    tables = [_scales_of(output, draws) for output in range(len(draws.names))]
    return {name: np.concatenate([table[name] for table in tables]) for name in tables[0]}


def _scales_of(output: int, draws: PriorDraws) -> Columns:
    functions, target = draws.functions[:, :, output], draws.observed[:, output]
    numbers = np.arange(len(functions), dtype=np.float64)
    if np.isfinite(target).all():
        functions, numbers = np.vstack([target, functions]), np.append(np.nan, numbers)
    with np.errstate(invalid="ignore", over="ignore"):
        steps = np.abs(np.diff(functions, axis=1)).sum(axis=1) / max(functions.shape[1] - 1, 1)
        scales = {
            "mean": functions.mean(axis=1),
            "sd": functions.std(axis=1),
            "step": steps,
            "range": np.ptp(functions, axis=1),
        }
    finite = {name: np.where(np.isfinite(scale), scale, np.nan) for name, scale in scales.items()}
    return {"output": np.full(len(numbers), output), "draw": numbers, **finite}


def _labels(draws: PriorDraws, data: Dataset, covariate: str) -> Columns:
    """Return the labels of the axes, with a row for each output."""
    scale, number = data.target_scale, len(draws.names)
    return {
        "covariate": np.array([covariate] * number),
        "target": np.array(draws.names),
        "unit": np.array([data.units.get(name, "") for name in draws.names]),
        "scale": np.array([scale] * number),
    }
