"""Meanings of variables of posteriors and surrogates, as attributes that NetCDF readers show."""

from __future__ import annotations

import re

import xarray as xr

MEANINGS = {
    "lp": "log density of the posterior, up to a constant",
    "log_approximation": "log density of the approximation that the draw is from",
    "energy": "minus the log density of position and momentum",
    "acceptance_rate": "mean probability of accepting a proposal",
    "diverging": "whether the step diverged",
    "n_steps": "gradients of the log density in this step",
    "tree_depth": "doublings of the trajectory; 0 without a tree",
    "step_size": "step size of the integrator",
    "noise": "sd of the likelihood's noise, on the scale that the network learns",
    "f": "output of the network at the reference points, on the scale that it learns",
    "target": "target of the network, on the scale that it learns",
    "error": "standard error of the target, on the scale that the network learns",
    "features": "inputs of the network",
}
LAYERS = {
    "weights": "weights from layer {before} (first axis of the matrix) to layer {layer}",
    "biases": "biases of layer {layer}",
}
PARAMETERS = re.compile(r"(weights|biases)_(\d+)")


def explain(group: xr.Dataset) -> xr.Dataset:
    """Add a long name and the unit 1 to every variable with a known meaning."""
    meanings = {name: meaning for name in group.data_vars if (meaning := _meaning(str(name)))}
    added = {name: {"long_name": text, "units": "1"} for name, text in meanings.items()}
    return group.assign({name: group[name].assign_attrs(attrs) for name, attrs in added.items()})


def _meaning(name: str) -> str | None:
    if match := PARAMETERS.fullmatch(name):
        layer = int(match[2])
        return LAYERS[match[1]].format(before=layer - 1, layer=layer)
    return MEANINGS.get(name)
