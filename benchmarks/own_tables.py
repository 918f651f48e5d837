"""Fit tables as a user does, with each recipe, beside a Gaussian process on the same rows.

    python -m benchmarks.own_tables --rows 250 800 --noise 0 0.02

The table has five uniform inputs, of which the last has no effect, and a positive target with a
known relative noise. The networks have the recipes of `nlobayes.fitting.studies`. Errors are those
of the median against the target without noise, at points that no fit has seen. The process is
Gaussian, with a Matern-5/2 kernel, a length for each input and all rows. The networks train on 70 %
of them.
"""

from __future__ import annotations

import argparse
import time
import warnings
from typing import Any

import numpy as np
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel

from benchmarks.common import isolated, print_header, print_row

COLUMNS = (
    *("rows", "noise", "model", "RMSE dex", "p50 %", "p95 %", "R-hat", "R-hat max", "ESS"),
    *("diverg.", "converged", "CPU s"),
)
INPUTS, POINTS = 5, 3000
RECIPES = ("plain", "smooth", "wide")


def main() -> None:
    """Print a row for each table and model."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, nargs="+", default=[800], help="rows of the tables")
    parser.add_argument("--noise", type=float, nargs="+", default=[0.0], help="relative noise")
    parser.add_argument("--seed", type=int, default=1, help="seed of rows and fits")
    given = parser.parse_args()
    print_header(COLUMNS)
    for rows in given.rows:
        for noise in given.noise:
            for model in (*RECIPES, "process"):
                row = isolated("benchmarks.own_tables:measure", model, rows, noise, given.seed)
                print_row({"rows": rows, "noise": noise, "model": model, **row}, COLUMNS)


def measure(model: str, rows: int, noise: float, seed: int) -> dict[str, Any]:
    """Fit one model to the rows of one table, and score it at new points."""
    rng = np.random.default_rng(seed)
    known, new = rng.uniform(size=(rows, INPUTS)), rng.uniform(size=(POINTS, INPUTS))
    observed = target(known) * np.exp(noise * rng.standard_normal(rows))
    begin = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if model in RECIPES:
            predicted, facts = _network(known, observed, new, model, seed)
        else:
            predicted, facts = _gaussian_process(known, observed, new, seed), {}
    seconds = time.process_time() - begin
    error = np.log10(predicted / target(new))
    relative = 100 * np.abs(10**error - 1)
    return {
        "RMSE dex": float(np.sqrt(np.mean(error**2))),
        "p50 %": float(np.median(relative)),
        "p95 %": float(np.quantile(relative, 0.95)),
        **facts,
        "CPU s": seconds,
    }


def target(points: np.ndarray) -> np.ndarray:
    """Compute the target without noise (point,); it spans three powers of ten."""
    a, b, c, d, _ = points.T
    return np.exp(3 * np.sin(4 * a) * b + 2 * c**2 - 3 * d)


def _network(
    known: np.ndarray, observed: np.ndarray, new: np.ndarray, recipe: str, seed: int
) -> tuple[np.ndarray, dict[str, Any]]:
    from nlobayes import BayesianNetworkRegressor

    model = BayesianNetworkRegressor(
        scale="log10", recipe=recipe, random_state=seed, n_jobs=1, verbose=False
    )
    model.fit(known, observed)
    found = model.diagnostics_
    facts = {
        "R-hat": found["rhat_f_median"],
        "R-hat max": found["rhat_f"],
        "ESS": found["ess_f"],
        "diverg.": found["divergences"],
        "converged": found["converged"],
    }
    _, quantiles = model.predict(new, quantiles=[0.5])
    return quantiles[0], facts


def _gaussian_process(
    known: np.ndarray, observed: np.ndarray, new: np.ndarray, seed: int
) -> np.ndarray:
    kernel = ConstantKernel() * Matern(np.ones(INPUTS), nu=2.5) + WhiteKernel(1e-2, (1e-9, 1.0))
    process = GaussianProcessRegressor(
        kernel, normalize_y=True, n_restarts_optimizer=1, random_state=seed
    )
    process.fit(known, np.log10(observed))
    return 10 ** process.predict(new)


if __name__ == "__main__":
    main()
