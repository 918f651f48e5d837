"""The tables of the chains of a run, whatever they predict."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from nlobayes.artifacts.contents import read_map
from nlobayes.artifacts.netcdf import Groups
from nlobayes.commands.shared.covariates import Covariate
from nlobayes.commands.shared.posteriors import posterior_draws
from nlobayes.diagnostics import tables
from nlobayes.diagnostics.draws import ChainDraws
from nlobayes.model.networks import is_parameter
from nlobayes.types import Columns


def of_chains(thin: int, groups: Groups, covariate: Covariate) -> dict[str, Columns]:
    """Tabulate a posterior whose weights were stored every so many draws."""
    draws, names = posterior_draws(groups), _weight_names(groups["posterior"])
    outputs = draws.function.shape[2] // len(covariate.at_reference)
    at_reference = np.repeat(covariate.at_reference, outputs)
    diverging = groups["all_sample_stats"]["diverging"].values
    return {
        "trace": tables.trace(draws.log_density, draws.noise),
        "convergence": tables.per_point(draws.function, at_reference),
        "quantities": tables.quantities(_with_coefficients(draws, names)),
        "autocorrelation": tables.correlations(draws.function, draws.log_density, draws.noise),
        "weight_autocorrelation": tables.weight_correlations(draws.weights, thin),
        "history": tables.history(draws.weights, names, thin),
        "weight_planes": tables.weight_planes(draws.weights, names),
        "divergences": tables.divergences(draws.function, diverging, at_reference),
    }


def of_starts(paths: Sequence[Path]) -> dict[str, Columns]:
    """Tabulate how the MAPs were reached."""
    starts = [read_map(path) for path in paths]
    losses, misfits = [s.loss for s in starts], [s.validation_rmse for s in starts]
    return {"loss": tables.losses(losses, misfits)}


def _weight_names(posterior: xr.Dataset) -> list[str]:
    """Name every weight in the order of the parameter vector: `weights_1[m1, 0]`."""
    names: list[str] = []
    for name, weights in posterior.items():
        labels: list[Any] = [[str(v) for v in weights[dim].values] for dim in weights.dims[2:]]
        if is_parameter(str(name)):
            names += [f"{name}[{', '.join(place)}]" for place in product(*labels)]
    return names


def _with_coefficients(draws: ChainDraws, names: list[str]) -> ChainDraws:
    """Count the weights of a network without hidden layer, which are identified, as quantities."""
    if any(name.startswith("weights_2") for name in names):
        return draws
    weights = np.moveaxis(draws.weights, 2, 0)
    identified = dict(zip(names, weights, strict=True))
    return draws._replace(hyperparameters=(draws.hyperparameters or {}) | identified)
