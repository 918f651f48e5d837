"""How often converged chains fail the limit of R-hat, by their effective draws.

    python -m benchmarks.rhat_by_chance results/posterior/.../s1.nc --chains 4 --csv rhat.csv

Simulated chains are stationary AR(1) processes that all have one distribution. Their quantities
have the correlations of f at the reference points of a posterior, and one more is independent of
these, as the log density nearly is. A replicate fails if the largest R-hat of all is above 1.01.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.special import ndtri

from nlobayes.artifacts.netcdf import open_artifact
from nlobayes.diagnostics.convergence import rhat_by_chance

LIMIT = 1.01


def largest_rhat(draws: np.ndarray) -> float:
    """Compute the largest R-hat of (chain, draw, quantity), as `convergence.rhat` of each."""
    half = draws.shape[1] // 2
    halves = np.concatenate([draws[:, :half], draws[:, -half:]])
    folded = np.abs(halves - np.median(halves, axis=(0, 1)))
    return max(_of_ranks(values).max() for values in (halves, folded))


def _of_ranks(values: np.ndarray) -> np.ndarray:
    _, length, quantities = values.shape
    flat = values.reshape(-1, quantities)
    ranks = np.empty_like(flat)
    np.put_along_axis(ranks, flat.argsort(axis=0), np.arange(1.0, len(flat) + 1)[:, None], axis=0)
    scores = ndtri((ranks - 0.375) / (len(flat) + 0.25)).reshape(values.shape)
    within = scores.var(axis=1, ddof=1).mean(axis=0)
    between = scores.mean(axis=1).var(axis=0, ddof=1)
    return np.sqrt((length - 1) / length + between / within)


def mixing_matrix(function: np.ndarray) -> np.ndarray:
    """Return (factor, quantity): independent factors times it have the correlations of f."""
    flat = function.reshape(-1, function.shape[-1])
    correlation = np.corrcoef(flat, rowvar=False)
    values, vectors = np.linalg.eigh(correlation)
    kept = values > 1e-6 * values[-1]
    of_f = np.sqrt(values[kept])[:, None] * vectors[:, kept].T
    of_f /= np.sqrt(np.square(of_f).sum(axis=0))
    mixing = np.zeros((len(of_f) + 1, of_f.shape[1] + 1))
    mixing[:-1, :-1], mixing[-1, -1] = of_f, 1.0
    return mixing


def simulate(
    rng: np.random.Generator, mixing: np.ndarray, *, chains: int, draws: int, phi: float
) -> np.ndarray:
    """Simulate stationary AR(1) chains (chain, draw, quantity)."""
    factors = rng.standard_normal((draws, chains, len(mixing)))
    factors[1:] *= np.sqrt(1 - phi**2)
    for draw in range(1, draws):
        factors[draw] += phi * factors[draw - 1]
    return (factors @ mixing).swapaxes(0, 1)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("posterior", type=Path)
    parser.add_argument("--chains", type=int, nargs="+", default=[4])
    parser.add_argument("--ess", type=int, nargs="+", default=[400, 600, 1000, 1500, 2500, 4000])
    parser.add_argument("--phi", type=float, default=0.5)
    parser.add_argument("--replicates", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--csv", type=Path)
    given = parser.parse_args()
    function = open_artifact(given.posterior, "posterior").groups["predictions"]["f"].values
    mixing = mixing_matrix(function)
    rng, rows = np.random.default_rng(given.seed), []
    for chains in given.chains:
        for ess in given.ess:
            draws = round(ess / chains * (1 + given.phi) / (1 - given.phi))
            shape = {"chains": chains, "draws": draws, "phi": given.phi}
            largest = np.array(
                [largest_rhat(simulate(rng, mixing, **shape)) for _ in range(given.replicates)]
            )
            rows.append(
                {
                    "chains": chains,
                    "ESS": ess,
                    "fail": np.mean(largest > LIMIT),
                    "median": np.median(largest),
                    "99 %": np.quantile(largest, 0.99),
                    "by chance": float(rhat_by_chance(np.array(ess), chains, draws)),
                }
            )
            print(pd.DataFrame(rows[-1:]).to_string(index=False, header=len(rows) == 1), flush=True)
    if given.csv:
        pd.DataFrame(rows).to_csv(given.csv, index=False)


if __name__ == "__main__":
    main()
