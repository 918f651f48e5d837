"""Fit the infinitely wide network of one hidden layer: what the exact posterior of any width nears.

    python -m benchmarks.infinite_width results/data/embedded_k.nc

With Gaussian weights f is a Gaussian process as the width grows (Neal 1996), and for the activation
erf its covariance is closed (Williams 1998, "Computation with infinite neural networks", eq. 11):

    s^2 (2 / pi) asin(2 u' S v / sqrt((1 + 2 u' S u) (1 + 2 v' S v))) + b^2,

u and v the features with a 1 before them, S a variance for each input and for the biases. All of
them, and the noise, are those of the largest evidence (type-II maximum likelihood). Log score and
coverage are those of its own Gaussian predictions; an engine's noise-free values have nothing else.
The prior printed last is that of a network of finite width with these scales, as `fixed_scales`
states them: of tanh, which is near erf where its argument is 2 / sqrt(pi) times as large.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from math import pi, sqrt
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.stats import norm

from benchmarks.common import isolated, print_header, print_row
from nlobayes.artifacts.contents import read_dataset
from nlobayes.data.splits import TEST, TRAIN
from nlobayes.types import Dataset

COLUMNS = (
    *("dataset", "rows", "noise", "RMSE dex", "p50 %", "p95 %", "log score", "68 %", "95 %"),
    *("CPU s", "prior"),
)
MEASURE = "benchmarks.infinite_width:measure"
JITTER = 1e-9
ROWS_AT_ONCE = 2000


def main() -> None:
    """Print a row for each dataset."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("datasets", type=Path, nargs="+", help="datasets of the workflow")
    parser.add_argument("--rows", type=int, default=2000, help="train rows at most (memory: rows²)")
    parser.add_argument("--sigma", type=float, help="a declared noise in sd; learned without it")
    given = parser.parse_args()
    print_header(COLUMNS)
    for path in given.datasets:
        row = isolated(MEASURE, read_dataset(path), given.rows, given.sigma, precision="float64")
        print_row({"dataset": path.stem, **row}, COLUMNS)


def measure(dataset: Dataset, rows: int, sigma: float | None = None) -> dict[str, Any]:
    """Fit the first rows of the train split, and score the test split."""
    begin = time.process_time()
    train = np.flatnonzero(dataset.split == TRAIN)[:rows]
    x, y = dataset.features[train], dataset.target[train]
    log = largest_evidence(x, y, sigma)
    test = dataset.split == TEST
    mean, sd = _predict(log, x, y, dataset.features[test])
    seconds = time.process_time() - begin
    dex = dataset.transforms["target"]["sd"]
    return {
        "rows": len(y),
        "noise": float(np.exp(log[-1])),
        **_scores((dataset.target[test] - mean) * dex, sd * dex),
        "CPU s": seconds,
        "prior": _prior(log, dataset.feature_names),
    }


def _prior(log: np.ndarray, names: Sequence[str]) -> str:
    """Write the preset of a prior of these scales."""
    biases, *inputs, size, shift = np.exp(log[:-1])
    steeper = 2 / sqrt(pi)
    of_inputs = ", ".join(
        f'"{name}": {scale * steeper * sqrt(len(names)):.3g}'
        for name, scale in zip(names, inputs, strict=True)
    )
    return (
        f"{{kind: fixed_scales, inputs: {{{of_inputs}}}, weights: {size:.3g}, "
        f"biases: {biases * steeper:.3g}, output_biases: {shift:.3g}}}"
    )


def largest_evidence(x: np.ndarray, y: np.ndarray, sigma: float | None) -> np.ndarray:
    """Search for the logarithms of scales, size, shift and noise."""
    import jax

    objective = jax.jit(jax.value_and_grad(lambda log: -_log_evidence(log, x, y) / len(y)))
    start = np.log([*np.full(x.shape[1] + 1, 0.5), 1.0, 1.0, sigma or 0.01])
    of_noise = (-9, 6) if sigma is None else (start[-1], start[-1])
    found = minimize(
        lambda log: tuple(map(np.asarray, objective(log))),
        start,
        jac=True,
        method="L-BFGS-B",
        bounds=[*[(-9, 6)] * (len(start) - 1), of_noise],
        options={"maxiter": 1000, "maxfun": 2000, "ftol": 1e-12, "gtol": 1e-7},
    )
    return np.asarray(found.x)


def _scores(error: np.ndarray, sd: np.ndarray) -> dict[str, float]:
    """Score errors in dex and the standard deviations that were predicted."""
    relative = 100 * np.abs(10**error - 1)
    level_of = 2 * norm.cdf(np.abs(error) / sd) - 1
    return {
        "RMSE dex": float(np.sqrt(np.mean(error**2))),
        "p50 %": float(np.median(relative)),
        "p95 %": float(np.quantile(relative, 0.95)),
        "log score": float(np.mean(norm.logpdf(error, scale=sd))),
        **{f"{level} %": float(100 * np.mean(level_of < level / 100)) for level in (68, 95)},
    }


def _covariance(log: Any, first: Any, second: Any) -> Any:
    """Compute the covariance (point, point) of f at two sets of features (point, feature)."""
    import jax.numpy as jnp

    biases, scales, size, shift = log[0], log[1:-3], log[-3], log[-2]
    weighed = [
        jnp.column_stack([jnp.full(len(x), jnp.exp(biases)), x * jnp.exp(scales)])
        for x in (first, second)
    ]
    norms = [1 + 2 * jnp.sum(u**2, axis=1) for u in weighed]
    cosine = 2 * weighed[0] @ weighed[1].T / jnp.sqrt(jnp.outer(norms[0], norms[1]))
    return jnp.exp(2 * size) * (2 / jnp.pi) * jnp.arcsin(cosine) + jnp.exp(2 * shift)


def _root(log: Any, x: Any) -> Any:
    import jax.numpy as jnp

    noise = jnp.exp(2 * log[-1]) + JITTER
    return jnp.linalg.cholesky(_covariance(log, x, x) + noise * jnp.eye(len(x)))


def _log_evidence(log: Any, x: Any, y: Any) -> Any:
    import jax.numpy as jnp
    from jax.scipy.linalg import solve_triangular

    root = _root(log, x)
    white = solve_triangular(root, y, lower=True)
    return (
        -jnp.sum(white**2) / 2 - jnp.sum(jnp.log(jnp.diag(root))) - len(y) * jnp.log(2 * jnp.pi) / 2
    )


def _predict(log: Any, x: Any, y: Any, at: Any) -> tuple[np.ndarray, np.ndarray]:
    """Give means and standard deviations (point,), the noise included."""
    import jax.numpy as jnp
    from jax.scipy.linalg import solve_triangular

    root, means, variances = _root(log, x), [], []
    weights = solve_triangular(root, solve_triangular(root, y, lower=True), lower=True, trans=1)
    for begin in range(0, len(at), ROWS_AT_ONCE):
        rows = at[begin : begin + ROWS_AT_ONCE]
        across = _covariance(log, x, rows)
        means.append(across.T @ weights)
        explained = jnp.sum(solve_triangular(root, across, lower=True) ** 2, axis=0)
        variances.append(_own_variance(log, rows) - explained + jnp.exp(2 * log[-1]))
    return np.concatenate(means), np.sqrt(np.maximum(np.concatenate(variances), 0))


def _own_variance(log: Any, x: Any) -> Any:
    import jax

    return jax.vmap(lambda row: _covariance(log, row[None], row[None])[0, 0])(x)


if __name__ == "__main__":
    main()
