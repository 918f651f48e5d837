"""Fit functions without noise by recipes `cosines` and `wide`, beside Gaussian processes.

    python -m benchmarks.smooth_functions                      # all functions, each recipe
    python -m benchmarks.smooth_functions --functions ratio peak --seed 2

Rows and new points are uniform in [0, 1]. A recipe trains on 70 % of the rows; its surrogate then
learns all of them. A process has all rows, a length for each input, and the better kernel of two.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, Matern, WhiteKernel

from benchmarks.common import Row, isolated, print_rows, write_csv

COLUMNS = (
    *("function", "inputs", "rows", "model", "RMSE / sd", "68 % cover", "R-hat f", "R-hat scales"),
    *("ESS f", "acceptance", "draws", "converged", "CPU s"),
)
POINTS = 1000
MODELS = ("cosines", "wide", "process")


class Function(NamedTuple):
    """A function of inputs in [0, 1] (input, point), and the rows it is learned from."""

    inputs: int
    rows: int
    at: Callable[[np.ndarray], np.ndarray]
    scale: str = "identity"


FUNCTIONS = {
    "damped wave": Function(1, 60, lambda x: np.exp(-x[0]) * np.sin(6 * x[0])),
    "kink": Function(1, 60, lambda x: np.abs(x[0] - 0.4)),
    "logarithm": Function(1, 60, lambda x: np.log(0.01 + x[0])),
    "step and parabola": Function(1, 60, lambda x: np.tanh(8 * (x[0] - 0.5)) + x[0] ** 2),
    "waves": Function(2, 200, lambda x: np.sin(3 * x[0]) * np.cos(2 * x[1])),
    "waves and product": Function(2, 200, lambda x: np.sin(3 * x[0]) * np.exp(-x[1]) + x[0] * x[1]),
    "ratio": Function(2, 200, lambda x: x[0] / (0.3 + x[1])),
    "peak": Function(2, 200, lambda x: np.exp(-8 * ((x[0] - 0.4) ** 2 + (x[1] - 0.6) ** 2))),
    "powers": Function(2, 200, lambda x: (1 + x[0]) ** -4 * (1 + 2 * x[1]) ** -2),
    "cross section": Function(
        2,
        200,
        lambda x: np.exp(-6 * x[0]) * (1 + (0.2 + 1.8 * x[1]) ** 2) / (1 + 3 * x[0]) ** 3,
        "log10",
    ),
    "wave of three": Function(3, 200, lambda x: np.sin(2 * x[0]) + x[1] * x[2]),
    "exponential of three": Function(3, 200, lambda x: np.exp(x[0] - x[1]) / (1 + x[2])),
    "Friedman": Function(
        5,
        200,
        lambda x: 10 * np.sin(np.pi * x[0] * x[1]) + 20 * (x[2] - 0.5) ** 2 + 10 * x[3] + 5 * x[4],
    ),
    "sum of five": Function(
        5, 200, lambda x: np.sin(2 * x[0]) + x[1] * x[2] + np.exp(-x[3]) * x[4]
    ),
    "ratio of five": Function(
        5, 200, lambda x: np.exp(x[0] - x[1]) / (1 + 0.5 * x[2] + x[3] * x[4])
    ),
    "steps of five": Function(
        5,
        200,
        lambda x: (
            np.tanh(2 * x[0] + x[1] - 1.5)
            + 0.3 * np.exp(1.4 * x[2] - x[3])
            + 0.8 * (x[4] - 0.5) * (x[0] - 0.5)
        ),
    ),
    "decades of five": Function(
        5,
        250,
        lambda x: np.exp(3 * np.sin(4 * x[0]) * x[1] + 2 * x[2] ** 2 - 3 * x[3]),
        "log10",
    ),
}


def main() -> None:
    """Print a row for each function and model, and write them where `--csv` says."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--functions", nargs="+", choices=FUNCTIONS, default=[*FUNCTIONS])
    parser.add_argument("--models", nargs="+", choices=MODELS, default=MODELS)
    parser.add_argument("--seed", type=int, default=1, help="seed of rows and fits")
    parser.add_argument("--at-once", type=int, default=2, help="fits at a time")
    parser.add_argument("--csv", type=Path, help="file for the rows")
    given = parser.parse_args()
    cells = [*product(given.functions, given.models)]
    with ThreadPoolExecutor(given.at_once) as pool:
        rows = print_rows(pool.map(partial(row_of, seed=given.seed), cells), COLUMNS)
    if given.csv:
        write_csv(given.csv, rows)


def row_of(cell: tuple[str, str], seed: int) -> Row:
    """Measure one model on one function, in a process of its own."""
    name, model = cell
    found = isolated("benchmarks.smooth_functions:measure", name, model, seed)
    function = FUNCTIONS[name]
    return {
        "function": name,
        "inputs": function.inputs,
        "rows": function.rows,
        "model": model,
        **found,
    }


def measure(name: str, model: str, seed: int) -> dict[str, Any]:
    """Fit one model to the rows of one function, and score it at new points."""
    function, rng = FUNCTIONS[name], np.random.default_rng(seed)
    known, new = (rng.uniform(size=(rows, function.inputs)) for rows in (function.rows, POINTS))
    shown = np.log10 if function.scale == "log10" else np.asarray
    observed, truth = function.at(known.T), shown(function.at(new.T))
    begin = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if model == "process":
            low, mean, high, facts = _process(known, shown(observed), new, seed)
        else:
            low, mean, high, facts = _network(known, observed, new, function.scale, model, seed)
            low, mean, high = shown(low), shown(mean), shown(high)
    return {
        "RMSE / sd": float(np.sqrt(np.mean((mean - truth) ** 2)) / truth.std()),
        "68 % cover": 100 * float(np.mean((low < truth) & (truth < high))),
        **facts,
        "CPU s": time.process_time() - begin,
    }


Predicted = tuple[np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]


def _network(
    known: np.ndarray, observed: np.ndarray, new: np.ndarray, scale: str, recipe: str, seed: int
) -> Predicted:
    from nlobayes import BayesianNetworkRegressor

    model = BayesianNetworkRegressor(
        scale=scale, recipe=recipe, random_state=seed, n_jobs=1, verbose=False
    )
    model.fit(known, observed)
    found = model.diagnostics_
    facts = {
        "R-hat f": found["rhat_f"],
        "R-hat scales": found["rhat_hyperparameters"],
        "ESS f": found["ess_f"],
        "acceptance": found["acceptance_rate"],
        "draws": found["draws_per_chain"],
        "converged": found["converged"],
    }
    mean, (low, high) = model.predict(new, quantiles=[0.16, 0.84])
    return low, mean, high, facts


def _process(known: np.ndarray, observed: np.ndarray, new: np.ndarray, seed: int) -> Predicted:
    lengths = np.ones(known.shape[1])
    noise = WhiteKernel(1e-4, (1e-12, 1.0))
    fitted = [
        GaussianProcessRegressor(
            ConstantKernel() * kernel + noise,
            normalize_y=True,
            n_restarts_optimizer=2,
            random_state=seed,
        ).fit(known, observed)
        for kernel in (RBF(lengths), Matern(lengths, nu=2.5))
    ]
    best = max(fitted, key=lambda each: each.log_marginal_likelihood_value_)
    mean, sd = best.predict(new, return_std=True)
    return mean - sd, mean, mean + sd, {}


if __name__ == "__main__":
    main()
