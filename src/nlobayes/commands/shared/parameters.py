"""The parameters of a posterior by name, for tables that show some of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import xarray as xr

from nlobayes.commands.shared.posteriors import weights_of
from nlobayes.diagnostics.tables import HISTORIES, evenly
from nlobayes.errors import InputError
from nlobayes.model.networks import is_parameter, is_size
from nlobayes.study.presets import MOST_PANELS


class Parameters(NamedTuple):
    """Parameters with their stored draws: first the weights, then those with one value per draw.

    Attributes
    ----------
    names
        Name of each, such as `weights_1[m1, 0]` or `noise`.
    aliases
        The same with numbers instead of names of features, such as `weights_1[0, 0]`.
    draws
        Axes (chain, stored draw, parameter).
    weights
        Number of weights.
    """

    names: list[str]
    aliases: list[str]
    draws: np.ndarray
    weights: int

    @classmethod
    def of(cls, posterior: xr.Dataset) -> Parameters:
        """Collect the parameters of a posterior."""
        drawn, names = weights_of(posterior), weight_names(posterior)
        single = {
            str(name): values.values[..., np.newaxis]
            for name, values in posterior.items()
            if values.ndim == 2 and not is_parameter(str(name)) and not is_size(str(name))
        }
        aliases = weight_names(posterior, numbered=True)
        draws = np.concatenate([drawn, *single.values()], axis=2)
        return cls([*names, *single], [*aliases, *single], draws, len(names))

    def places(self, requested: Sequence[str]) -> list[int]:
        """Find the positions of parameters by name; blanks in names are ignored.

        Raises
        ------
        InputError
            If a name is unknown.
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

    def some(self, requested: Sequence[str]) -> dict[str, np.ndarray]:
        """Return the draws (chain, stored draw) of requested parameters, or of a default choice.

        The default are parameters with one value per draw, and all weights of a linear model or a
        few weights of another network.
        """
        places = self.places(requested) if requested else self._few()
        return {self.names[place]: self.draws[..., place] for place in places}

    def _few(self) -> list[int]:
        single = [*range(self.weights, len(self.names))][: MOST_PANELS - HISTORIES]
        most = MOST_PANELS - len(single) if is_linear(self.names) else HISTORIES
        return [*single, *evenly(0, self.weights, most)]


def weight_names(posterior: xr.Dataset, *, numbered: bool = False) -> list[str]:
    """Name every weight in the order of the parameter vector: `weights_1[m1, 0]`."""
    names: list[str] = []
    for name, weights in posterior.items():
        sizes = {dim: range(weights.sizes[dim]) for dim in weights.dims[2:]}
        each: Any = [sizes[d] if numbered else weights[d].values for d in sizes]
        if is_parameter(str(name)):
            names += [f"{name}[{', '.join(map(str, place))}]" for place in product(*each)]
    return names


def is_linear(names: Iterable[str]) -> bool:
    """Return whether a network has no hidden layer, so that its weights are identified."""
    return not any(name.startswith("weights_2") for name in names)


def _bare(name: str) -> str:
    return name.replace(" ", "")
