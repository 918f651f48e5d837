"""The tables of the chains of a run, of numbers or of classes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from nlobayes.artifacts.chains import stored_every
from nlobayes.artifacts.netcdf import Groups
from nlobayes.commands.shared.parameters import Parameters, is_linear, weight_names
from nlobayes.commands.shared.posteriors import posterior_draws, without_fixed
from nlobayes.diagnostics import tables
from nlobayes.diagnostics.covariates import Covariate
from nlobayes.diagnostics.draws import ChainDraws
from nlobayes.study.jobs import TabulateChainsJob
from nlobayes.types import Columns


def of_chains(job: TabulateChainsJob, groups: Groups, covariate: Covariate) -> dict[str, Columns]:
    """Tabulate the chains of a posterior, whose weights are stored for every n-th draw.

    Weights that the prior fixes are left out.

    Raises
    ------
    InputError
        If the posterior lacks a parameter that figures should show.
    """
    posterior = without_fixed(groups["posterior"])
    draws, names = posterior_draws({**groups, "posterior": posterior}), weight_names(posterior)
    thin = stored_every(posterior)
    outputs = draws.function.shape[2] // len(covariate.at_reference)
    at_reference = np.repeat(covariate.at_reference, outputs)
    diverging = groups["all_sample_stats"]["diverging"].values
    shown = Parameters.of(posterior)
    return {
        "trace": tables.trace(draws.log_density, draws.noise),
        "convergence": tables.per_point(draws.function, at_reference),
        "quantities": tables.quantities(_with_coefficients(draws, names)),
        "autocorrelation": tables.correlations(draws.function, draws.log_density, draws.noise),
        "weight_autocorrelation": tables.weight_correlations(draws.weights, thin),
        "history": tables.history(draws.weights, names, thin),
        "weight_planes": _planes(job.weight_planes, shown, draws.weights, names),
        "marginals": tables.marginals(shown.some(job.marginals)),
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
