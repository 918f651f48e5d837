"""Sample a very wide network by blocks of units: how sharp a posterior of the target itself is.

    python -m benchmarks.unit_blocks results/data/embedded_resolved.nc --sigma 0.0025

Intervals are those of conformal noise, and in the columns `own` those that the likelihood states.
The network has one hidden layer of erf units; the scales of its inputs, biases and output are those
of the largest evidence of the infinitely wide network (`infinite_width.py`), and so is the noise
unless it is declared.
The output layer is integrated out. A move draws the weights of a random block of units from their
prior, and is accepted by the marginal likelihood of the train rows. The kernel matrix K of the rows
changes by the block alone, so a move costs rows^2 x block and a Cholesky root, whatever the width.
Output weights are drawn exactly for each kept draw: of prior weights a, bias b and noise e,

    a + Phi' K^-1 (y - Phi a - b - e)

are a posterior draw (Matheron's rule; Wilson et al. 2020, ICML 37, eq. 9).
"""

from __future__ import annotations

import argparse
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import cho_solve, cholesky, solve_triangular
from scipy.special import erf
from scipy.stats import norm

from benchmarks.common import print_header, print_row
from benchmarks.infinite_width import largest_evidence
from nlobayes.artifacts.contents import read_dataset
from nlobayes.data.splits import TEST, TRAIN, VALIDATION
from nlobayes.data.transforms import apply_scale, target_transform, unstandardise
from nlobayes.diagnostics.convergence import ess_bulk, rhat
from nlobayes.evaluation.predictive.noise_fit import fit_noise, noise_at_points
from nlobayes.evaluation.predictive.predictive_density import predictive_cdf
from nlobayes.evaluation.scores.of_split import evaluate
from nlobayes.types import Dataset

COLUMNS = (
    *("units", "sigma", "moves", "acceptance", "R-hat, median", "R-hat, 99 %", "ESS, median"),
    *("ESS, min", "RMSE dex", "p50 %", "p95 %", "log score", "68 %", "95 %", "own 68 %"),
    *("own 95 %", "CPU s"),
)
ANEW_EVERY = 200
"""Moves after which K is computed anew, so that rounding does not add up."""
REFERENCE = 400
"""Test points whose f is checked for convergence."""


class Rows(NamedTuple):
    """Train rows (row, feature) and (row,), the points (point, feature), and logs of the scales."""

    x: np.ndarray
    y: np.ndarray
    points: np.ndarray
    log: np.ndarray


class Chain(NamedTuple):
    """f of the kept draws (draw, point), the share of accepted moves, and CPU seconds."""

    function: np.ndarray
    acceptance: float
    seconds: float


def main() -> None:
    """Print a row."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("dataset", type=Path, help="dataset of the workflow")
    parser.add_argument("--sigma", type=float, help="a declared noise in sd")
    parser.add_argument("--units", type=int, default=8192)
    parser.add_argument("--block", type=int, default=256, help="units of a move")
    parser.add_argument("--moves", type=int, default=12_000, help="of a chain; a quarter warms up")
    parser.add_argument("--thin", type=int, default=40, help="moves of a kept draw")
    parser.add_argument("--chains", type=int, default=4)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1, help="chains at once")
    given = parser.parse_args()
    dataset = read_dataset(given.dataset)
    train = dataset.split == TRAIN
    x, y = dataset.features[train], dataset.target[train]
    rows = Rows(x, y, dataset.features, largest_evidence(x, y, given.sigma))
    with ProcessPoolExecutor(given.jobs, mp_context=get_context("spawn")) as pool:
        started = [pool.submit(sample, rows, given, chain) for chain in range(given.chains)]
        chains = [chain.result() for chain in started]
    print_header(COLUMNS)
    sigma = float(np.exp(rows.log[-1]))
    said = {"units": given.units, "sigma": sigma, "moves": given.moves}
    print_row(said | describe(dataset, chains, sigma), COLUMNS)


def sample(rows: Rows, settings: argparse.Namespace, chain: int) -> Chain:
    """Run a chain from a draw of the prior."""
    begin, rng = time.process_time(), np.random.default_rng([settings.seed, chain])
    weights = rng.normal(size=(rows.x.shape[1] + 1, settings.units))
    hidden = _hidden(rows, rows.x, weights, settings.units)
    gram = _gram(rows, hidden)
    root, level = _evidence(rows, gram)
    accepted, kept = 0, []
    for move in range(1, settings.moves + 1):
        block = rng.choice(settings.units, settings.block, replace=False)
        drawn = rng.normal(size=(len(weights), settings.block))
        new, old = _hidden(rows, rows.x, drawn, settings.units), hidden[:, block]
        proposed = gram + new @ new.T - old @ old.T
        its_root, its_level = _evidence(rows, proposed)
        if np.log(rng.uniform()) < its_level - level:
            gram, root, level = proposed, its_root, its_level
            weights[:, block], hidden[:, block] = drawn, new
            accepted += 1
        if move % ANEW_EVERY == 0:
            gram = _gram(rows, hidden)
            root, level = _evidence(rows, gram)
        if move > settings.moves // 4 and move % settings.thin == 0:
            kept.append(_draw(rng, rows, weights, hidden, root))
    seconds = time.process_time() - begin
    return Chain(np.stack(kept), accepted / settings.moves, seconds)


def describe(dataset: Dataset, chains: list[Chain], sigma: float) -> dict[str, Any]:
    """Check the chains, and score the test rows by conformal noise and by that of sigma in sd."""
    function = np.stack([chain.function for chain in chains])
    at = np.flatnonzero(dataset.split == TEST)
    judged = function[:, :, at[:REFERENCE]]
    target = target_transform(dataset.transforms)
    pooled = function.reshape(-1, function.shape[-1])
    draws = unstandardise(target, pooled, dataset.relative_to)
    observed, held = apply_scale(target, dataset.observed), dataset.split == VALIDATION
    known = (draws[:, held], observed[held])
    fitted = fit_noise(*known, family="conformal", features=dataset.features[held])
    noise = noise_at_points(fitted, draws[:, at], dataset.features[at])
    scores = evaluate(
        draws[:, at], observed[at], noise, np.random.default_rng(0), scale=target.scale
    )
    level = 2 * np.abs(predictive_cdf(draws[:, at], observed[at], noise) - 0.5)
    stated = norm.cdf(observed[at], loc=draws[:, at], scale=sigma * np.asarray(target.sd)).mean(
        axis=0
    )
    own = 2 * np.abs(stated - 0.5)
    relative = 100 * np.abs(10 ** (draws[:, at].mean(axis=0) - observed[at]) - 1)
    return {
        "acceptance": float(np.mean([chain.acceptance for chain in chains])),
        "R-hat, median": float(np.median(rhat(judged))),
        "R-hat, 99 %": float(np.quantile(rhat(judged), 0.99)),
        "ESS, median": float(np.median(ess_bulk(judged))),
        "ESS, min": float(ess_bulk(judged).min()),
        "RMSE dex": scores["rmse_log10"],
        "p50 %": float(np.median(relative)),
        "p95 %": float(np.quantile(relative, 0.95)),
        "log score": scores["lppd"],
        **{f"{share} %": float(100 * np.mean(level < share / 100)) for share in (68, 95)},
        **{f"own {share} %": float(100 * np.mean(own < share / 100)) for share in (68, 95)},
        "CPU s": sum(chain.seconds for chain in chains),
    }


def _hidden(rows: Rows, x: np.ndarray, weights: np.ndarray, units: int) -> np.ndarray:
    """Evaluate units (point, unit), times the scale of the output weights over root units."""
    biases, *inputs, size = np.exp(rows.log[:-2])
    activations = erf((x * inputs) @ weights[1:] + biases * weights[0])
    return np.asarray(activations * (size / np.sqrt(units)))


def _gram(rows: Rows, hidden: np.ndarray) -> np.ndarray:
    shift, noise = np.exp(2 * rows.log[-2:])
    return np.asarray(hidden @ hidden.T + shift + noise * np.eye(len(hidden)))


def _evidence(rows: Rows, gram: np.ndarray) -> tuple[np.ndarray, float]:
    """Give the Cholesky root of K, and the log marginal likelihood but for a constant."""
    root = cholesky(gram, lower=True, check_finite=False)
    white = solve_triangular(root, rows.y, lower=True, check_finite=False)
    return root, float(-white @ white / 2 - np.log(np.diag(root)).sum())


def _draw(
    rng: np.random.Generator, rows: Rows, weights: np.ndarray, hidden: np.ndarray, root: np.ndarray
) -> np.ndarray:
    """Draw the output layer, and evaluate f at all points (point,)."""
    shift, noise = np.exp(rows.log[-2:])
    output, bias = rng.normal(size=hidden.shape[1]), shift * rng.normal()
    prior = hidden @ output + bias + noise * rng.normal(size=len(rows.y))
    pull = cho_solve((root, True), rows.y - prior)
    output, bias = output + hidden.T @ pull, bias + shift**2 * pull.sum()
    return np.asarray(_hidden(rows, rows.points, weights, hidden.shape[1]) @ output + bias)


if __name__ == "__main__":
    main()
