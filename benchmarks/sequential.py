"""Compare a posterior that was updated by a memory with the full refit on old and new rows.

    python -m benchmarks.sequential

Reads the runs of `config/studies/sequential.yaml`. Losses are means over the test rows against the
union: the divergence of its Gaussian marginal, the rms shift of the mean in units of its epistemic
sd, the geometric mean ratio of the sds. `union, halves` compares two halves of its own chains: what
the noise of the draws alone shows.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.common import print_header, print_row
from nlobayes.artifacts.files import read_json
from nlobayes.artifacts.netcdf import open_artifact
from nlobayes.data.splits import TEST

RUNS = {
    "union": ("union", "fan_in"),
    "new, updated": ("new", "updated"),
    "new alone": ("new", "fan_in"),
    "old alone": ("old", "fan_in"),
}
COLUMNS = (
    *("posterior", "R-hat f 50 %", "R-hat f max", "ESS f min", "RMSE dex", "lppd", "95 % cov."),
    *("epistemic sd", "divergence", "shift", "sd ratio"),
)


def main() -> None:
    """Print a row for each posterior, and one for the noise of the draws."""
    given = _arguments()
    paths = {name: _path(*run, given.method, given.seed) for name, run in RUNS.items()}
    draws = {name: _test_draws(given.results, path) for name, path in paths.items()}
    union = draws["union"]
    print_header(COLUMNS)
    for name, path in paths.items():
        print_row(
            {
                "posterior": name,
                **_scores(given.results / "metrics" / path),
                **_losses(_flat(draws[name]), _flat(union)),
            },
            COLUMNS,
        )
    half = len(union) // 2
    losses = _losses(_flat(union[:half]), _flat(union[half:]))
    print_row(dict.fromkeys(COLUMNS, "") | {"posterior": "union, halves", **losses}, COLUMNS)


def _path(dataset: str, prior: str, sampler: str, seed: int) -> str:
    return f"{dataset}/n16/{prior}/tolerance_10/adam/{sampler}/s{seed}"


def _test_draws(results: Path, path: str) -> np.ndarray:
    """Read f (chain, draw, point) of the test rows."""
    groups = open_artifact(results / "predictions" / f"{path}.nc", "predictions").groups
    test = groups["points"]["split"].values == TEST
    return groups["predictions"]["f"].values[..., test].astype(np.float64)


def _flat(draws: np.ndarray) -> np.ndarray:
    return draws.reshape(-1, draws.shape[-1])


def _scores(folder: Path) -> dict[str, float]:
    found = read_json(folder / "diagnostics.json", "converged", "checks")
    test = read_json(folder / "evaluation.json", "test")["test"]
    return {
        "R-hat f 50 %": found["rhat_f_median"],
        "R-hat f max": found["rhat_f"],
        "ESS f min": found["ess_f"],
        "RMSE dex": test["rmse_log10"],
        "lppd": test["lppd"],
        "95 % cov.": test["coverage_95"],
        "epistemic sd": test["posterior_sd"],
    }


def _losses(found: np.ndarray, reference: np.ndarray) -> dict[str, float]:
    summary = summarise(function_loss(found, reference))
    return {name.replace("_", " "): value for name, value in summary.items()}


class Loss(NamedTuple):
    """Differences of draws from those of the reference at every point (point,), as Gaussians."""

    divergence: np.ndarray
    """Kullback-Leibler divergence of the reference from the draws, in nats."""
    shift: np.ndarray
    """Difference of the means in units of the reference's sd."""
    sd_ratio: np.ndarray
    """The sd of the draws over that of the reference."""


def function_loss(found: np.ndarray, reference: np.ndarray) -> Loss:
    """Compare draws of f (draw, point) with draws of the reference at the same points."""
    shift = (found.mean(axis=0) - reference.mean(axis=0)) / reference.std(axis=0, ddof=1)
    ratio = found.std(axis=0, ddof=1) / reference.std(axis=0, ddof=1)
    divergence = np.log(ratio) + (1 + shift**2) / (2 * ratio**2) - 0.5
    return Loss(divergence, shift, ratio)


def summarise(loss: Loss) -> dict[str, float]:
    """Average a loss over the points: means of divergences, root mean squares of shifts."""
    return {
        "divergence": float(loss.divergence.mean()),
        "shift": float(np.sqrt(np.mean(loss.shift**2))),
        "sd_ratio": float(np.exp(np.mean(np.log(loss.sd_ratio)))),
    }


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--results", type=Path, default=Path("results"))
    parser.add_argument("--method", default="hmc_sequential")
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args()


if __name__ == "__main__":
    main()
