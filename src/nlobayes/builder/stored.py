"""Log prior and log likelihood of a model at stored draws."""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from nlobayes.builder.model import build_model
from nlobayes.errors import InputError
from nlobayes.study.jobs import ModelJob
from nlobayes.types import Dataset, NamedArrays


class Components(NamedTuple):
    """Log prior of the named variables, and log likelihood (chain, draw).

    `names` are the variables of the model.
    """

    log_prior: np.ndarray
    log_likelihood: np.ndarray
    names: frozenset[str]


def components(job: ModelJob, dataset: Dataset, stored: NamedArrays) -> Components:
    """Evaluate both components of a model at stored draws, variables (chain, draw, ...) by name.

    Raises InputError if the model has variables that the draws lack, or has in another shape.
    """
    here = job.model_copy(update={"device": "cpu", "shards": 1})
    model = build_model(here, dataset, non_centered=False)
    density, data = model.density, model.data
    missing = sorted(density.places.keys() - stored.values.keys())
    if missing:
        raise InputError("builder.variables_not_drawn", missing=missing)

    def both(variables: dict[str, jax.Array]) -> tuple[jax.Array, jax.Array]:
        position = density.locate(variables)
        return density.bare_log_prior(position), density.log_likelihood(position, data)

    drawn = {name: stored.values[name] for name in density.places}
    _check_sizes(density.places, drawn)
    shape = next(iter(drawn.values())).shape[:2]
    flat = {name: _flat(values, density.dtype) for name, values in drawn.items()}
    prior, likelihood = jax.jit(lambda draws: jax.lax.map(both, draws))(flat)
    return Components(
        np.asarray(prior).reshape(shape), np.asarray(likelihood).reshape(shape), frozenset(drawn)
    )


def log_ratios(old: ModelJob, new: ModelJob, dataset: Dataset, stored: NamedArrays) -> np.ndarray:
    """Compute log density of a new over that of the old model at stored draws (chain, draw).

    Raises InputError if the two models do not have the same variables.
    """
    before, after = (components(job, dataset, stored) for job in (old, new))
    apart = sorted(before.names ^ after.names)
    if apart:
        raise InputError("builder.other_variables", apart=apart)
    return (after.log_prior - before.log_prior) + (after.log_likelihood - before.log_likelihood)


def _check_sizes(places: dict[str, slice], drawn: dict[str, np.ndarray]) -> None:
    """Refuse draws of a network with other outputs."""
    for name, place in places.items():
        received, expected = drawn[name][0, 0].size, place.stop - place.start
        if received != expected:
            raise InputError(
                "builder.other_size", variable=name, received=received, expected=expected
            )


def _flat(values: np.ndarray, dtype: np.dtype) -> jax.Array:
    return jnp.asarray(values.reshape(-1, *values.shape[2:]), dtype)
