"""The frontier of accuracy and convergence: test RMSE against R-hat at equal gradients.

    python -m benchmarks.frontier --csv frontier.csv --figure frontier.svg

Each point is the posterior of 5-32-1 on 1000 rows of the embedded engine at one tolerance sigma,
sampled by HMC from four MAPs with the same number of gradients, warm-up included. A series is one
choice of features and mass matrix. Below R-hat 1.01 (median) and 1.05 (99th percentile) chains
agree; the smaller sigma is there, the smaller is the error of the surrogate.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.common import (
    Case,
    isolated,
    make_embedded,
    model_job,
    print_header,
    print_row,
    simulate_rows,
    write_csv,
)
from nlobayes.methods.mcmc import MCMC
from nlobayes.study.jobs import ModelJob
from nlobayes.study.pretraining import Pretraining
from nlobayes.types import Dataset

CASE = Case((5, 32, 1), 1000)
SIGMAS = (0.1, 0.05, 0.025, 0.0125)
CHAINS = 4
COLUMNS = (
    *("series", "sigma", "seed", "gradients", "seconds", "R-hat", "R-hat-99", "ESS", "ESS-min"),
    *("divergences", "RMSE"),
)
LIMITS = {"R-hat": 1.01, "R-hat-99": 1.05}


class Series(NamedTuple):
    """Features, mass matrix and sampler of one curve."""

    features: str
    sampler: dict[str, Any]


PLAIN = {
    "kernel": {"kind": "hmc", "integration_steps": 256},
    "warmup": {"steps": 800, "adaptation_share": 0.5},
}
CURVED = {
    "kernel": {"kind": "hmc", "integration_steps": 128},
    "warmup": {
        "steps": 1200,
        "adaptation_share": 0.9,
        "mass_matrix": "gauss_newton",
        "target_acceptance": 0.98,
        "last_window": 300,
    },
}
SERIES = {
    "invariants, diagonal": Series("invariants", PLAIN),
    "resolved, diagonal": Series("resolved_invariants", PLAIN),
    "invariants, Gauss-Newton": Series("invariants", CURVED),
    "resolved, Gauss-Newton": Series("resolved_invariants", CURVED),
}
MARKERS = {"R-hat": "o", "R-hat-99": "^"}
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7")


def main() -> None:
    """Print one row per point; write the table and the figure if requested."""
    given = _arguments()
    table = simulate_rows(CASE.rows)
    print_header(COLUMNS)
    rows: list[dict[str, Any]] = []
    for name in given.series:
        dataset = make_embedded(table, CASE.rows, SERIES[name].features)
        sampler = MCMC.model_validate(
            {**SERIES[name].sampler, "chains": CHAINS, "draws_per_segment": 8}
        )
        for sigma in given.sigmas:
            job = model_job(CASE, sigma)
            found = isolated(
                "benchmarks.frontier:measure", dataset, job, sampler, given.gradients, given.seed
            )
            rows.append({"series": name, "sigma": sigma, "seed": given.seed, **found})
            print_row(rows[-1], COLUMNS)
            if given.csv:
                write_csv(given.csv, rows)
    if given.figure:
        draw_figure(rows, given.figure)


def measure(
    dataset: Dataset, job: ModelJob, sampler: MCMC, gradients: int, seed: int
) -> dict[str, Any]:
    """Warm up and draw four chains with this many gradients in all, and check their convergence."""
    from benchmarks.measure import draw_gradients
    from nlobayes.diagnostics.convergence import ess_bulk, rhat

    pretraining = Pretraining(epochs=1000, batch=100, learning_rate=0.01)
    drawn = draw_gradients(dataset, job, sampler, pretraining, gradients, seed)
    agreement, effective = rhat(drawn.function), ess_bulk(drawn.function)
    residual = drawn.test_mean - dataset.target[dataset.split == 2]
    sd = dataset.transforms["target"]["sd"]
    return {
        "gradients": drawn.gradients,
        "seconds": drawn.seconds,
        "R-hat": float(np.median(agreement)),
        "R-hat-99": float(np.percentile(agreement, 99)),
        "ESS": float(np.median(effective)),
        "ESS-min": float(effective.min()),
        "divergences": drawn.divergences,
        "RMSE": float(np.sqrt(np.mean(residual**2)) * sd),
    }


def draw_figure(rows: list[dict[str, Any]], path: Path) -> None:
    """Draw test RMSE over R-hat - 1, one curve per series, sigma beside each point."""
    from matplotlib import pyplot as plt

    figure, panes = plt.subplots(1, 2, figsize=(9, 3.8), sharey=True, layout="constrained")
    titles = {"R-hat": "median over 500 points", "R-hat-99": "99th percentile"}
    for pane, (measure_name, limit) in zip(panes, LIMITS.items(), strict=True):
        pane.axvspan(1e-5, limit - 1, color="#009E73", alpha=0.12, lw=0)
        for name, colour in zip(
            dict.fromkeys(row["series"] for row in rows), COLOURS, strict=False
        ):
            mine = [row for row in rows if row["series"] == name]
            excess = [max(row[measure_name] - 1, 1e-5) for row in mine]
            errors = [row["RMSE"] for row in mine]
            pane.plot(excess, errors, f"{MARKERS[measure_name]}-", color=colour, label=name)
            for row, x in zip(mine, excess, strict=True):
                pane.annotate(
                    f"{row['sigma']:g}",
                    (x, row["RMSE"]),
                    (4, 4),
                    textcoords="offset points",
                    fontsize=7,
                )
        smallest = min(max(row[measure_name] - 1, 1e-5) for row in rows)
        pane.set(xscale="log", yscale="log", xlim=(smallest / 2, None))
        pane.set(xlabel=f"R-hat of f - 1 ({titles[measure_name]})", title=f"limit {limit}")
    panes[0].set_ylabel("test RMSE [dex]")
    panes[0].legend(fontsize=7, title="features, mass matrix")
    figure.savefig(path)
    plt.close(figure)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--series", nargs="+", default=list(SERIES), choices=list(SERIES))
    parser.add_argument("--sigmas", nargs="+", type=float, default=list(SIGMAS))
    parser.add_argument("--gradients", type=int, default=2_500_000, help="of all four chains")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--csv", type=Path)
    parser.add_argument("--figure", type=Path)
    return parser.parse_args()


if __name__ == "__main__":
    main()
