"""Tabulate the data of the figures of chains: traces, convergence, correlations and weights."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from nlobayes.artifacts.chains import stored_every
from nlobayes.artifacts.contents import DatasetFile
from nlobayes.artifacts.files import TableFiles
from nlobayes.artifacts.netcdf import PosteriorFile
from nlobayes.commands.stage import stage
from nlobayes.diagnostics import covariates, tables
from nlobayes.diagnostics.draws import ChainDraws
from nlobayes.diagnostics.stored_draws import (
    Parameters,
    is_linear,
    posterior_draws,
    weight_names,
    without_fixed,
)
from nlobayes.study.evaluation import MOST_PANELS
from nlobayes.study.jobs import TabulateChainsJob
from nlobayes.types import Columns


@stage()
def tabulate_chains(
    job: TabulateChainsJob, posterior: PosteriorFile, dataset: DatasetFile
) -> TableFiles:
    """Tabulate what the figures of the chains of one run show.

    Weights that the prior fixes are left out. The weights of every n-th draw are stored.

    Parameters
    ----------
    posterior
        Posterior of the run.
    dataset
        Its dataset.

    Returns
    -------
    plots
        Folder for the tables.
    """
    covariate = covariates.covariate_of(dataset, job.covariate)
    free = without_fixed(posterior["posterior"])
    draws, names = posterior_draws({**posterior, "posterior": free}), weight_names(free)
    thin, shown = stored_every(free), Parameters.of(free)
    outputs = draws.function.shape[2] // len(covariate.at_reference)
    at_reference = np.repeat(covariate.at_reference, outputs)
    diverging = posterior["all_sample_stats"]["diverging"].values
    per_point = tables.per_point(draws.function, at_reference)
    return {
        "trace": tables.trace(draws.log_density, draws.noise),
        "convergence": per_point,
        "quantities": tables.quantities(_with_coefficients(draws, names), per_point["rhat"]),
        "autocorrelation": tables.correlations(draws.function, draws.log_density, draws.noise),
        "weight_autocorrelation": tables.weight_correlations(draws.weights, thin),
        "history": tables.history(draws.weights, names, thin),
        "weight_planes": _planes(job.weight_planes, shown, draws.weights, names),
        "marginals": tables.marginals(shown.some(job.marginals, MOST_PANELS)),
        "divergences": tables.divergences(draws.function, diverging, at_reference),
    }


def _planes(
    pairs: Sequence[tuple[str, str]], shown: Parameters, weights: np.ndarray, names: list[str]
) -> Columns:
    if not pairs:
        return tables.weight_planes(weights, names)
    places = [shown.places(pair) for pair in pairs]
    return tables.weight_planes(shown.draws, shown.names, [(x, y) for x, y in places])


def _with_coefficients(draws: ChainDraws, names: list[str]) -> ChainDraws:
    """Add the weights of a network without hidden layer: they are identified."""
    if not is_linear(names):
        return draws
    weights = np.moveaxis(draws.weights, 2, 0)
    identified = dict(zip(names, weights, strict=True))
    return draws._replace(hyperparameters=(draws.hyperparameters or {}) | identified)
