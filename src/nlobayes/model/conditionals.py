"""Hyperparameters that can be drawn given the weights, where their priors are conjugate.

A draw keeps the weights fixed, hence the likelihood: c = sqrt(fan_in) w, or w itself for biases,
are N(a, s^2) given their mean a and scale s, whatever the data. The arrays are sampled
non-centered, so that z = (c - a) / s follows. Each draw leaves the posterior invariant, and so does
their sequence (Gibbs sampling; Neal 1996, *Bayesian Learning for Neural Networks*, chapter 3).
The module of each prior defines its own conditional draws.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

import jax
import numpy as np

from nlobayes.model.density import Density
from nlobayes.model.networks import SLOPES, Network
from nlobayes.model.posterior import unit_dims
from nlobayes.model.prior import Prior, arrays_of


class Conjugates(NamedTuple):
    """Hyperparameters that can be drawn given all other parameters.

    `refresh(key, position)` draws the `entries` of a position anew, and changes the others so
    that every weight keeps its value.
    """

    refresh: Callable[[jax.Array, jax.Array], jax.Array]
    entries: np.ndarray


def find_conjugates(prior: Prior, network: Network, density: Density) -> Conjugates | None:
    """Find the hyperparameters of a prior that are conjugate; None where there are none.

    Hyperparameters of slopes are not included.
    """
    arrays = [one for one in arrays_of(network, unit_dims(network)) if one.role != SLOPES]
    found = prior.conditionals(arrays)
    if not found:
        return None
    places = [_indices(density, [one.name]) for one in found]
    governed = [_indices(density, one.arrays) for one in found]

    def refresh(key: jax.Array, position: jax.Array) -> jax.Array:
        now = density.variables(position)
        for number, one in enumerate(found):
            scale, mean = now[f"scale_{one.group}"], now.get(f"mean_{one.group}", 0.0)
            c = mean + scale * position[governed[number]]
            value, standard = one.draw(jax.random.fold_in(key, number), c, scale)
            position = position.at[places[number]].set(value).at[governed[number]].set(standard)
        return position

    return Conjugates(refresh, np.concatenate(places))


def _indices(density: Density, names: Iterable[str]) -> np.ndarray:
    return np.concatenate([np.arange(density.size)[density.places[name]] for name in names])
