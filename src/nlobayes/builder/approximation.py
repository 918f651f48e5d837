"""The approximate method of a job, and the conversion of its positions to draws."""

from __future__ import annotations

from collections.abc import Sequence

import jax
import numpy as np

from nlobayes.builder.model import Model, name_variables, observer, rows_of
from nlobayes.builder.model_curvature import gauss_newton_with
from nlobayes.builder.sampler import stack_positions
from nlobayes.builder.starts import build_problem
from nlobayes.errors import InputError
from nlobayes.inference.kernel import LogDensity
from nlobayes.inference.method import MethodDraws, MethodInput
from nlobayes.methods import Approximation
from nlobayes.model import linearised
from nlobayes.model.networks import is_parameter
from nlobayes.study.jobs import ModelJob
from nlobayes.types import Dataset, NamedArrays, PosteriorDraws


def model_for(preset: Approximation, job: ModelJob) -> ModelJob:
    """Find the model for a method: with the output layer integrated out, if the method draws it.

    Positions of both are the same.
    """
    if not preset.draws_output:
        return job
    integrated = job.network.model_copy(update={"output": "marginalised"})
    return job.model_copy(update={"network": integrated})


def approach(model: Model, dataset: Dataset, maps: Sequence[np.ndarray]) -> MethodInput:
    """Build the input of a method, with the MAPs as full positions (parameter,)."""
    whole, sampled = stack_positions(model, maps), model.sampled

    def complete(key: jax.Array, positions: jax.Array) -> jax.Array:
        draw = sampled.complete
        if draw is None:
            return positions
        keys = jax.random.split(key, len(positions))
        return jax.lax.map(lambda one: draw(*one), (keys, positions))

    return MethodInput(
        sampled.logdensity_fn,
        whole,
        sampled.reduce(whole),
        jax.jit(complete),
        gauss_newton_with(model, dataset),
        build_problem(model),
        rows_of(model, dataset, 0) if sampled.complete is None else None,
        np.flatnonzero(np.isin(sampled.left, _hyperparameters(model))),
    )


def _hyperparameters(model: Model) -> np.ndarray:
    """List the places of all entries of a full position that are not arrays of the network."""
    size, places = np.arange(model.density.size), model.density.places
    found = [size[place] for name, place in places.items() if not is_parameter(name)]
    return np.concatenate([size[:0], *found])


def name_draws(model: Model, dataset: Dataset, drawn: MethodDraws) -> PosteriorDraws:
    """Name the draws of a method and arrange them as one chain.

    Raises InputError if the network is not finite at some of them.
    """
    positions = drawn.positions
    variables = name_variables(model, positions[np.newaxis])
    centres = _name_centres(model, drawn.centres)
    if centres is None:
        function = _functions(model, dataset, positions)
    else:
        function = _tangents(model, dataset, variables, centres)
    lost = ~np.isfinite(function).reshape(len(positions), -1).all(axis=1)
    if lost.any():
        raise InputError("builder.draws_not_finite", lost=int(lost.sum()), draws=len(positions))
    log_density = _log_densities(model.logdensity_fn, positions)
    return PosteriorDraws(
        function[np.newaxis],
        log_density[np.newaxis],
        variables,
        log_approximation=_log_approximation(model, drawn, log_density),
        centres=centres,
    )


def _functions(model: Model, dataset: Dataset, positions: jax.Array) -> np.ndarray:
    """Return f (draw, reference_point) of the network at full positions."""
    observe = observer(model, dataset)
    return np.asarray(jax.jit(lambda all_: jax.lax.map(observe, all_))(positions)["f"])


def _tangents(
    model: Model, dataset: Dataset, variables: NamedArrays, centres: NamedArrays
) -> np.ndarray:
    """Return f (draw, reference_point) of the network linearised at the centres."""
    draws, about = ({name: v[0] for name, v in of.values.items()} for of in (variables, centres))
    outputs = linearised.predict(model.network, draws, about, dataset.features[dataset.reference])
    found: np.ndarray = model.likelihood.quantities(outputs, np)
    return found


def _name_centres(model: Model, centres: jax.Array | None) -> NamedArrays | None:
    """Name the arrays of the network; parameters of prior and likelihood have no centre."""
    if centres is None:
        return None
    named = name_variables(model, centres[np.newaxis])
    return named._replace(values={n: v for n, v in named.values.items() if is_parameter(n)})


def _log_approximation(
    model: Model, drawn: MethodDraws, log_density: np.ndarray
) -> np.ndarray | None:
    """Return the log density (chain, draw) of a method at full positions.

    The parameters that were integrated out were drawn exactly given the others: their density is
    the full posterior's over that of the others.
    """
    if drawn.log_density is None:
        return None
    own = np.asarray(drawn.log_density)
    if model.sampled.complete is not None:
        rest = model.sampled.reduce(drawn.positions)
        own = own + log_density - _log_densities(model.sampled.logdensity_fn, rest)
    return own[np.newaxis]


def _log_densities(density: LogDensity, positions: jax.Array) -> np.ndarray:
    return np.asarray(jax.jit(lambda all_: jax.lax.map(density, all_))(positions))
