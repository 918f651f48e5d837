"""Draws, weights and sizes of stored posteriors, in the form of the diagnostics."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import xarray as xr

from nlobayes.diagnostics.draws import ChainDraws
from nlobayes.diagnostics.tables import HISTORIES, evenly
from nlobayes.errors import InputError
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


class Parameters(NamedTuple):
    """Parameters with their stored draws: first the weights, then those with one value per draw."""

    names: list[str]
    """Name of each, such as `weights_1[m1, 0]` or `noise`."""
    aliases: list[str]
    """The same with numbers instead of names of features, such as `weights_1[0, 0]`."""
    draws: np.ndarray
    """Axes (chain, stored draw, parameter)."""
    weights: int
    """Number of weights."""

    @classmethod
    def of(cls, posterior: xr.Dataset) -> Parameters:
        """Collect the parameters of a posterior."""
        drawn, names = weights_of(posterior), weight_names(posterior)
        others = {*map(str, posterior)} - {*weight_arrays(posterior)}
        single = {
            str(name): values.values[..., np.newaxis]
            for name, values in posterior.items()
            if values.ndim == 2 and name in others and not is_size(str(name))
        }
        aliases = weight_names(posterior, numbered=True)
        draws = np.concatenate([drawn, *single.values()], axis=2)
        return cls([*names, *single], [*aliases, *single], draws, len(names))

    def places(self, requested: Sequence[str]) -> list[int]:
        """Find the positions of parameters by name; blanks in names are ignored.

        Raises InputError if a name is unknown.
        """
        known = {_bare(name): place for place, name in enumerate(self.aliases)}
        known |= {_bare(name): place for place, name in enumerate(self.names)}
        unknown = [name for name in requested if _bare(name) not in known]
        if unknown:
            raise InputError(
                "diagnostics.unknown_parameters",
                where="figures",
                unknown=unknown,
                known=self.names[self.weights :] + self.names[: self.weights],
            )
        return [known[_bare(name)] for name in requested]

    def some(self, requested: Sequence[str], most: int) -> dict[str, np.ndarray]:
        """Return the draws (chain, stored draw) of requested parameters, or of a default choice.

        The default are at most so many: parameters with one value per draw, and all weights of a
        linear model or a few weights of another network.
        """
        places = self.places(requested) if requested else self._few(most)
        return {self.names[place]: self.draws[..., place] for place in places}

    def _few(self, most: int) -> list[int]:
        single = [*range(self.weights, len(self.names))][: most - HISTORIES]
        weights = most - len(single) if is_linear(self.names) else HISTORIES
        return [*single, *evenly(0, self.weights, weights)]


def weight_names(posterior: xr.Dataset, *, numbered: bool = False) -> list[str]:
    """Name every weight in the order of the parameter vector: `weights_1[m1, 0]`."""
    names: list[str] = []
    for name in weight_arrays(posterior):
        weights = posterior[name]
        sizes = {dim: range(weights.sizes[dim]) for dim in weights.dims[2:]}
        each: Any = [sizes[d] if numbered else weights[d].values for d in sizes]
        places = [", ".join(map(str, place)) for place in product(*each)]
        names += [f"{name}[{place}]" if place else name for place in places]
    return names


def is_linear(names: Iterable[str]) -> bool:
    """Return whether a network has no hidden layer, so that its weights are identified."""
    return not any(name.startswith("weights_2") for name in names)


def _bare(name: str) -> str:
    return name.replace(" ", "")
