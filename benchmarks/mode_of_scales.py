"""An infinitely wide network at the mode of its scales, fitted to rows of a pool in a second.

Scales have the prior `scales`, and the noise a log-normal prior. The mode stands for the posterior
where many fits are compared (`rounds`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import cho_solve, solve_triangular
from scipy.optimize import minimize

from nlobayes.choosing.batch import choose
from nlobayes.model.infinite import (
    BIASES,
    ERF,
    EXPONENTS,
    INPUTS,
    OUTPUT,
    Warp,
    covariance,
    scaled_inputs,
    scales_of,
    warp_of,
)
from nlobayes.types import Dataset

CANDIDATES, REFERENCE = 1500, 500
NOISE_MEDIAN, NOISE_LOG_SD = 1e-2, 2.0
JITTER = 1e-10
STARTS = 10
"""Draws of the prior, of which the best one is a start beside the mode of the last round."""
PADDED = 100
"""Rows are padded to a multiple of these, so that few sizes are compiled."""


class Pool(NamedTuple):
    """Rows whose targets are bought: features (row, feature), and target in dex (row,)."""

    features: np.ndarray
    dex: np.ndarray
    warp: Warp


class Mode(NamedTuple):
    """The mode of the scales given rows, and what follows from it."""

    position: np.ndarray
    draw: dict[str, np.ndarray]
    noise_variance: float
    root: np.ndarray
    weights: np.ndarray
    mean: float
    sd: float


def pool_of(dataset: Dataset) -> Pool:
    """Make a pool of all rows of a dataset."""
    warp = warp_of(dataset.features, dataset.transforms["features"])
    return Pool(dataset.features, dataset.target * dataset.transforms["target"]["sd"], warp)


class Model:
    """Fits of one pool, whose compiled density serves all of its rounds."""

    def __init__(self, pool: Pool) -> None:
        import jax

        self.pool = pool
        self._density = jax.jit(jax.value_and_grad(partial(_log_density, pool.warp)))

    def fit(self, rows: np.ndarray, start: np.ndarray | None, seed: int) -> Mode:
        """Find the mode from that of earlier rows, and from the best of some draws of the prior."""
        pool, dex = self.pool, self.pool.dex[rows]
        mean, sd = float(dex.mean()), float(dex.std())
        padding = -len(rows) % PADDED
        features = np.pad(pool.features[rows], ((0, padding), (0, 0)))
        target, is_row = np.pad((dex - mean) / sd, (0, padding)), np.ones(len(features), bool)
        is_row[len(rows) :] = False

        def loss(position: np.ndarray) -> tuple[float, np.ndarray]:
            value, slope = self._density(position, features, target, is_row)
            return (-float(value), -np.asarray(slope)) if np.isfinite(value) else (1e10, slope * 0)

        search = partial(minimize, loss, jac=True, method="L-BFGS-B", options={"maxiter": 60})
        starts = [_best_of_prior(loss, features.shape[1], seed)]
        starts += [] if start is None else [start]
        found = min(map(search, starts), key=lambda one: one.fun)
        draw, noise = _unpacked(found.x, features.shape[1], np)
        inputs = scaled_inputs(draw, pool.features[rows], pool.warp, np)
        own = covariance(ERF, inputs, inputs, scales_of(draw), np)
        noise_variance = float(noise**2 + JITTER * draw[OUTPUT] ** 2)
        root = np.linalg.cholesky(own + noise_variance * np.eye(len(rows)))
        weights = cho_solve((root, True), target[: len(rows)])
        return Mode(found.x, draw, noise_variance, root, weights, mean, sd)

    def errors(self, mode: Mode, rows: np.ndarray) -> np.ndarray:
        """Return the relative error of every row of the pool (row,); that of bought ones is 0."""
        errors, known = np.zeros(len(self.pool.dex)), self._inputs(mode, rows)
        for part in np.array_split(np.arange(len(errors)), len(errors) // 2000 + 1):
            across = covariance(ERF, self._inputs(mode, part), known, scales_of(mode.draw), np)
            errors[part] = mode.mean + mode.sd * (across @ mode.weights) - self.pool.dex[part]
        errors[rows] = 0
        return np.abs(10**errors - 1)

    def left_out(self, mode: Mode) -> np.ndarray:
        """Return the relative errors of the bought rows (row,), each given the others."""
        inverse = solve_triangular(mode.root, np.eye(len(mode.root)), lower=True)
        return np.abs(10 ** (-mode.sd * mode.weights / np.square(inverse).sum(axis=0)) - 1)

    def choose(
        self, mode: Mode, rows: np.ndarray, free: np.ndarray, count: int, rng: np.random.Generator
    ) -> np.ndarray:
        """Choose some of the `free` rows by the posterior given the bought `rows`."""
        candidates = rng.permutation(free)[:CANDIDATES]
        reference = rng.permutation(len(self.pool.dex))[:REFERENCE]
        both, scales = np.concatenate([candidates, reference]), scales_of(mode.draw)
        points = self._inputs(mode, both)
        across = covariance(ERF, self._inputs(mode, rows), points, scales, np)
        seen = solve_triangular(mode.root, across, lower=True)
        given = covariance(ERF, points, points, scales, np) - seen.T @ seen
        numbers, noise = np.arange(len(both)), np.full((1, len(both)), mode.noise_variance)
        at = numbers[: len(candidates)], numbers[len(candidates) :]
        return candidates[choose(given[np.newaxis], noise, *at, count)]

    def _inputs(self, mode: Mode, rows: np.ndarray) -> np.ndarray:
        return np.asarray(scaled_inputs(mode.draw, self.pool.features[rows], self.pool.warp, np))


def _best_of_prior(
    loss: Callable[[np.ndarray], tuple[float, np.ndarray]], count: int, seed: int
) -> np.ndarray:
    middle, width = _prior(count)
    rng = np.random.default_rng(seed)
    drawn: Iterator[np.ndarray] = (
        middle + 0.5 * width * rng.standard_normal(len(middle)) for _ in range(STARTS)
    )
    return min(drawn, key=lambda one: loss(one)[0])


def _log_density(warp: Warp, position: Any, features: Any, target: Any, is_row: Any) -> Any:
    """Return the log posterior density of the scales; rows that are none have unit variance."""
    import jax.numpy as jnp

    from nlobayes.model.conditioning import differentiable_curve, log_evidence

    count = features.shape[1]
    draw, noise = _unpacked(position, count, jnp)
    inputs = scaled_inputs(draw, features, warp, jnp)
    own = covariance(ERF, inputs, inputs, scales_of(draw), jnp, differentiable_curve(ERF))
    own = jnp.where(is_row[:, None] & is_row, own, 0.0)
    own += jnp.diag(jnp.where(is_row, noise**2 + JITTER * draw[OUTPUT] ** 2, 1.0))
    middle, width = _prior(count)
    return log_evidence(own, target) - (((position - middle) / width) ** 2).sum() / 2


def _unpacked(position: Any, count: int, xp: Any) -> tuple[dict[str, Any], Any]:
    """Return the scales by name, and the noise, of logarithms and exponents (parameter,)."""
    scales, exponents = xp.exp(position[:count]), position[count : 2 * count]
    bias, output, noise = xp.exp(position[2 * count :])
    return {INPUTS: scales, EXPONENTS: exponents, BIASES: bias, OUTPUT: output}, noise


def _prior(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return centre and sd of the prior of these parameters."""
    centre = [*[np.log(0.5)] * count, *[1.0] * count, 0.0, np.log(2.0), np.log(NOISE_MEDIAN)]
    return np.array(centre), np.array([*[1.5] * count, *[0.5] * count, 1.0, 1.0, NOISE_LOG_SD])
