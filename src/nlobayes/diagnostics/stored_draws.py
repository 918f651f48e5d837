"""Draws, weights and sizes of stored posteriors, in the form of the diagnostics."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import xarray as xr

from nlobayes.diagnostics.draws import ChainDraws
from nlobayes.model.infinite import PARAMETERS
from nlobayes.model.networks import is_parameter, is_size, network_of, parameters_in_use

INPUT = "feature"
"""Axis of arrays with one value for each input."""


def posterior_draws(groups: Mapping[str, xr.Dataset]) -> ChainDraws:
    """Collect the draws of all chains, flat per draw; the weights in the parameters' order."""
    stats, function = groups["all_sample_stats"], groups["predictions"]["f"].values
    return ChainDraws(
        function=function.reshape(*function.shape[:2], -1),
        log_density=stats["lp"].values,
        noise=stats["noise"].values if "noise" in stats else None,
        weights=weights_of(groups["posterior"]),
        hyperparameters=_hyperparameters(groups),
    )


def weights_of(posterior: xr.Dataset) -> np.ndarray:
    """Join the weights, biases and slopes (chain, draw, weight) in the parameters' order."""
    arrays = [posterior[name].values for name in weight_arrays(posterior)]
    return np.concatenate([array.reshape(*array.shape[:2], -1) for array in arrays], axis=2)


def weight_arrays(posterior: xr.Dataset) -> list[str]:
    """Name the arrays of weights; of an infinitely wide network, which has none, its parameters."""
    names = [*map(str, posterior)]
    return [*filter(is_parameter, names)] or [name for name in names if name in PARAMETERS]


def without_fixed(posterior: xr.Dataset) -> xr.Dataset:
    """Remove arrays of weights that all draws share, such as biases that the prior fixes.

    A posterior whose chains never moved keeps all arrays.
    """
    arrays = {str(name): array for name, array in posterior.items() if is_parameter(str(name))}
    fixed = [name for name, array in arrays.items() if (array == array[0, 0]).all()]
    return posterior if len(fixed) == len(arrays) else posterior.drop_vars(fixed)


def drawn_sizes(posterior: xr.Dataset) -> dict[str, np.ndarray]:
    """Return the numbers (chain, draw) of units and layers in use; empty if the size is fixed."""
    return {str(name): posterior[name].values for name in posterior if is_size(str(name))}


def parameters_of(posterior: xr.Dataset) -> np.ndarray:
    """Count the weights and biases (chain, draw) in use; such networks have no slopes."""
    arrays = {str(name): values.values for name, values in posterior.items()}
    counted: np.ndarray = parameters_in_use(network_of(arrays, "").sizes, drawn_sizes(posterior))
    return counted


def _hyperparameters(groups: Mapping[str, xr.Dataset]) -> dict[str, np.ndarray] | None:
    """Collect parameters of prior and likelihood (chain, draw) by name, without local scales.

    A scale of each input is one parameter for each, named as `scale_weights_1[m1]`.
    """
    learned: dict[str, np.ndarray] = {}
    for name, values in groups["posterior"].items():
        if is_parameter(str(name)) or is_size(str(name)) or name == "noise":
            continue
        if values.ndim == 2:
            learned[str(name)] = values.values
        elif values.dims[2:] == (INPUT,):
            labels = values[INPUT].values
            learned |= {f"{name}[{one}]": values.sel({INPUT: one}).values for one in labels}
    return learned or None
