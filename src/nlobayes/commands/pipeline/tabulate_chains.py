"""Tabulate the data of the figures of chains: traces, convergence, correlations and weights."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import xarray as xr

from nlobayes.artifacts.chains import stored_every
from nlobayes.artifacts.contents import DatasetFile
from nlobayes.artifacts.files import TableFiles
from nlobayes.artifacts.netcdf import PosteriorFile
from nlobayes.commands.stage import stage
from nlobayes.diagnostics import covariates, tables
from nlobayes.diagnostics.draws import ChainDraws
from nlobayes.diagnostics.stored_draws import (
    posterior_draws,
    weight_arrays,
    weights_of,
    without_fixed,
)
from nlobayes.diagnostics.tables import HISTORIES, evenly
from nlobayes.errors import InputError
from nlobayes.model.networks import is_size
from nlobayes.study.jobs import TabulateChainsJob
from nlobayes.study.presets import MOST_PANELS
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
