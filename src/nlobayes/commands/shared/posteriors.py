"""What several verbs take from a posterior."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import xarray as xr

from nlobayes.artifacts.netcdf import Groups, read_attrs
from nlobayes.commands.shared.centres import check_networks
from nlobayes.diagnostics.draws import ChainDraws
from nlobayes.errors import InputError
from nlobayes.model.networks import is_parameter, is_size, network_of, parameters_in_use
from nlobayes.study.jobs import ModelJob
from nlobayes.study.stated_model import stated_model


def posterior_draws(groups: Groups) -> ChainDraws:
    """Take the draws of all chains, everything flat; the weights in the parameters' order."""
    stats, function = groups["all_sample_stats"], groups["predictions"]["f"].values
    return ChainDraws(
        function=function.reshape(*function.shape[:2], -1),
        log_density=stats["lp"].values,
        noise=stats["noise"].values if "noise" in stats else None,
        weights=weights_of(groups["posterior"]),
        hyperparameters=_hyperparameters(groups),
    )


def weights_of(posterior: xr.Dataset) -> np.ndarray:
    """Take the weights, biases and slopes (chain, draw, weight) in the parameters' order."""
    arrays = [array.values for name, array in posterior.items() if is_parameter(str(name))]
    return np.concatenate([array.reshape(*array.shape[:2], -1) for array in arrays], axis=2)


def drawn_sizes(posterior: xr.Dataset) -> dict[str, np.ndarray]:
    """Take the numbers (chain, draw) of units and of layers in use; none where they are fixed."""
    return {str(name): posterior[name].values for name in posterior if is_size(str(name))}


def parameters_of(posterior: xr.Dataset) -> np.ndarray:
    """Count the weights and biases (chain, draw) that are in use; there are no slopes."""
    arrays = {str(name): values.values for name, values in posterior.items()}
    counted: np.ndarray = parameters_in_use(network_of(arrays, "").sizes, drawn_sizes(posterior))
    return counted


def _hyperparameters(groups: Groups) -> dict[str, np.ndarray] | None:
    """Take what prior and likelihood learned, one number per draw each; local scales are many."""
    drawn = groups["posterior"].items()
    learned = {
        str(name): values.values
        for name, values in drawn
        if not is_parameter(str(name)) and name != "noise" and values.ndim == 2
    }
    return learned or None


def model_of(posterior: Path) -> ModelJob:
    """Read the model that a thinned posterior is of.

    Raises
    ------
    InputError
        If the file is no thinned posterior, its model none that is known here, or its draws those
        of a network that is linearised.
    """
    made = read_attrs(posterior)
    spec = made.get("spec") if made.get("kind") == "thinned" else None
    model = stated_model(spec, str(posterior))
    if model is None:
        raise InputError("commands.no_model_stated", path=posterior)
    check_networks(made, posterior)
    return model
