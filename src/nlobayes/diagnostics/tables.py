"""The tables of the chains: traces, convergence, autocorrelation and densities.

Draws of functions have axes (chain, draw, reference_point), of weights (chain, stored draw,
weight): every `thin`-th draw was stored, and draws are numbered from 0, stored or not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil

import numpy as np

from nlobayes.diagnostics import convergence
from nlobayes.diagnostics.autocorrelation import (
    autocorrelation,
    integrated_time,
    mean_autocorrelation,
    sokal_time,
)
from nlobayes.diagnostics.draws import ChainDraws, located
from nlobayes.errors import InputError
from nlobayes.types import Columns

TRACE_DRAWS, HISTORY_DRAWS, PLANE_DRAWS = 500, 300, 400
LAGS = 100
HISTORIES, PLANES = 6, 4
FEWEST_BINS, MOST_BINS, DRAWS_PER_BIN = 10, 40, 5
_WEIGHTS_AT_ONCE = 256


def trace(log_density: np.ndarray, noise: np.ndarray | None) -> Columns:
    """Tabulate log density and noise (chain, draw), thinned to at most 500 draws per chain.

    The noise is NaN where it is fixed.
    """
    kept = _spread(log_density.shape[1], TRACE_DRAWS)
    shown = log_density[:, kept]
    return {
        **_chain_and_draw(len(shown), kept),
        "log_density": shown.ravel(),
        "noise": np.full(shown.size, np.nan) if noise is None else noise[:, kept].ravel(),
    }


def per_point(function: np.ndarray, covariate: np.ndarray) -> Columns:
    """Tabulate the convergence of the function at every reference point.

    Infinite R-hat and Monte-Carlo errors mean that no chain ever moved there.
    """
    split = convergence.variance_split(function)
    return {
        "reference_point": np.arange(function.shape[2]),
        "covariate": covariate,
        "rhat": convergence.rhat(function),
        "rhat_gelman_rubin": convergence.gelman_rubin(function),
        "ess_bulk": convergence.ess_bulk(function),
        "ess_tail": convergence.ess_tail(function),
        "mcse_mean": convergence.mcse_mean(function),
        "mcse_q2_5": convergence.mcse_quantile(function, 0.025),
        "mcse_q97_5": convergence.mcse_quantile(function, 0.975),
        "between_chain_variance": split.between,
        "within_chain_variance": split.within,
        "variance_share": split.share,
        "autocorrelation_time": integrated_time(function),
        "autocorrelation_time_sokal": sokal_time(function),
    }


def quantities(draws: ChainDraws, rhat: np.ndarray) -> Columns:
    """Tabulate mean, spread, error and convergence of quantities with one number per draw.

    `rhat` (reference_point,) is that of the function. Rows: `log_density`, `noise` if it is
    learned, the hyperparameters by name, and the function at two reference points, `f_worst` with
    the largest R-hat and `f_median` with the median one, the larger of two. Infinities as in
    `per_point`; times count draws, stored or not.
    """
    order = np.argsort(rhat, kind="stable")
    scalars = {"log_density": draws.log_density}
    if draws.noise is not None:
        scalars["noise"] = draws.noise
    scalars |= draws.hyperparameters or {}
    scalars["f_worst"] = draws.function[:, :, order[-1]]
    scalars["f_median"] = draws.function[:, :, order[len(order) // 2]]
    drawn = draws.function.shape[1]
    rows = [_quantity(values, drawn // values.shape[1]) for values in scalars.values()]
    return {
        "quantity": np.array([*scalars]),
        **{name: np.array([row[name] for row in rows]) for name in rows[0]},
    }


def correlations(
    function: np.ndarray, log_density: np.ndarray, noise: np.ndarray | None
) -> Columns:
    """Tabulate the autocorrelation of predictions, over reference points, density and noise.

    The noise is NaN where it is fixed.
    """
    of_function = autocorrelation(function)[:LAGS]
    lags = len(of_function)
    return {
        "lag": np.arange(lags),
        "f_mean": mean_autocorrelation(function)[:lags],
        "f_p10": np.percentile(of_function, 10, axis=1),
        "f_p90": np.percentile(of_function, 90, axis=1),
        "log_density": autocorrelation(log_density)[:lags],
        "noise": np.full(lags, np.nan) if noise is None else autocorrelation(noise)[:lags],
    }


def weight_correlations(weights: np.ndarray, thin: int) -> Columns:
    """Tabulate the autocorrelation over all weights; lags are in draws, stored or not."""
    parts = [
        autocorrelation(weights[:, :, first : first + _WEIGHTS_AT_ONCE])[:LAGS]
        for first in range(0, weights.shape[2], _WEIGHTS_AT_ONCE)
    ]
    rho = np.concatenate(parts, axis=1)
    return {
        "lag": thin * np.arange(len(rho)),
        "mean": rho.mean(axis=1),
        "p10": np.percentile(rho, 10, axis=1),
        "p90": np.percentile(rho, 90, axis=1),
    }


def history(weights: np.ndarray, names: Sequence[str], thin: int) -> Columns:
    """Tabulate traces of six weights, spread over the parameter vector, in 300 draws per chain."""
    _check_names(weights, names)
    chains, stored, count = weights.shape
    kept, chosen = _spread(stored, HISTORY_DRAWS), evenly(0, count, HISTORIES)
    drawn = _chain_and_draw(chains, thin * (kept + 1) - 1)
    return {
        "weight": np.repeat([names[i] for i in chosen], chains * len(kept)),
        **{name: np.tile(column, len(chosen)) for name, column in drawn.items()},
        "value": np.concatenate([weights[:, kept, i].ravel() for i in chosen]),
    }


def weight_planes(
    weights: np.ndarray, names: Sequence[str], chosen: Sequence[tuple[int, int]] = ()
) -> Columns:
    """Tabulate pairs of weights, 400 draws per chain: separate clouds are separate modes.

    `chosen` are their places. Without it there are four pairs; the first weight of each is from the
    first half of the parameter vector, the second from the second half, so from other layers. A
    single weight has no pair, and the table no rows.
    """
    _check_names(weights, names)
    chains, stored, count = weights.shape
    kept = _spread(stored, PLANE_DRAWS)
    first, second = evenly(0, count // 2, PLANES), evenly(count // 2, count, PLANES)
    pairs = [*chosen] or list(zip(first, second, strict=False))
    size = chains * len(kept)
    return {
        "pair": np.repeat(np.arange(len(pairs)), size),
        "x_name": np.repeat(np.array([names[i] for i, _ in pairs], dtype=str), size),
        "y_name": np.repeat(np.array([names[j] for _, j in pairs], dtype=str), size),
        "chain": np.tile(np.repeat(np.arange(chains), len(kept)), len(pairs)),
        "x": weights[:, kept][:, :, [i for i, _ in pairs]].transpose(2, 0, 1).ravel(),
        "y": weights[:, kept][:, :, [j for _, j in pairs]].transpose(2, 0, 1).ravel(),
    }


def marginals(drawn: Mapping[str, np.ndarray]) -> Columns:
    """Tabulate the marginal density of parameters (chain, stored draw) by name, of each chain.

    Returns `parameter`; its `mean`, `sd` and `rhat` over the draws of all chains, NaN for less than
    8 draws per chain; `chain`; and of each of 10 to 40 equal bins from the smallest to the largest
    of all draws `low`, `high` and the `density` of the draws of the chain. A chain has five draws
    per bin or more, except in the fewest bins.
    """
    parts = [_marginal(name, np.asarray(draws, np.float64)) for name, draws in drawn.items()]
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def divergences(function: np.ndarray, diverging: np.ndarray, covariate: np.ndarray) -> Columns:
    """Tabulate how far divergent draws, and the others, lie from the mean at reference points.

    Distances in posterior standard deviations; NaN where there is no draw of the kind.
    """
    points = function.shape[2]
    deviation, expected = (
        np.full(points, np.nan) if mean is None else mean for mean in located(function, diverging)
    )
    return {
        "reference_point": np.arange(points),
        "covariate": covariate,
        "deviation": deviation,
        "expected": expected,
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


def _quantity(values: np.ndarray, stride: int) -> dict[str, float]:
    """Describe one quantity (chain, draw) whose draws lie a stride apart."""
    draws = np.asarray(values, dtype=np.float64)[..., np.newaxis]
    described = {
        "mean": draws.mean(axis=(0, 1)),
        "sd": draws.std(axis=(0, 1), ddof=1),
        "mcse_mean": convergence.mcse_mean(draws),
        "mcse_q2_5": convergence.mcse_quantile(draws, 0.025),
        "mcse_q97_5": convergence.mcse_quantile(draws, 0.975),
        "rhat": convergence.rhat(draws),
        "rhat_gelman_rubin": convergence.gelman_rubin(draws),
        "ess_bulk": convergence.ess_bulk(draws),
        "ess_tail": convergence.ess_tail(draws),
        "autocorrelation_time": stride * integrated_time(draws),
        "autocorrelation_time_sokal": stride * sokal_time(draws),
    }
    return {name: float(value[0]) for name, value in described.items()}


def _marginal(name: str, draws: np.ndarray) -> Columns:
    """Tabulate one parameter (chain, draw)."""
    chains, stored = draws.shape
    bins = int(np.clip(stored // DRAWS_PER_BIN, FEWEST_BINS, MOST_BINS))
    edges = np.histogram_bin_edges(draws, bins)
    density = [np.histogram(chain, edges, density=True)[0] for chain in draws]
    enough = stored >= convergence.FEWEST_DRAWS
    rhat = float(convergence.rhat(draws[..., np.newaxis])[0]) if enough else np.nan
    of_all = {"mean": draws.mean(), "sd": draws.std(ddof=1), "rhat": rhat}
    rows = chains * bins
    return {
        "parameter": np.full(rows, name),
        **{key: np.full(rows, value) for key, value in of_all.items()},
        "chain": np.repeat(np.arange(chains), bins),
        "low": np.tile(edges[:-1], chains),
        "high": np.tile(edges[1:], chains),
        "density": np.concatenate(density),
    }


def _spread(draws: int, most: int) -> np.ndarray:
    """Return at most `most` indices of draws, equally far apart."""
    return np.arange(0, draws, ceil(draws / most))


def evenly(first: int, end: int, most: int) -> list[int]:
    """Return at most `most` indices from `first` to before `end`, the middles of equal parts."""
    count = min(most, end - first)
    return [first + (2 * part + 1) * (end - first) // (2 * count) for part in range(count)]


def _chain_and_draw(chains: int, draws: np.ndarray) -> Columns:
    return {"chain": np.repeat(np.arange(chains), len(draws)), "draw": np.tile(draws, chains)}


def _check_names(weights: np.ndarray, names: Sequence[str]) -> None:
    if weights.ndim != 3 or len(names) != weights.shape[2]:
        raise InputError("diagnostics.weight_names", shape=weights.shape, names=len(names))
