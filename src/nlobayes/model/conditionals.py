"""Hyperparameters that can be drawn given the weights, where their priors are conjugate.

A draw holds the weights, hence the likelihood: c = sqrt(fan_in) w, or w itself for biases, are
N(a, s^2) given their mean a and scale s, whatever the data. What is whitened follows,
z = (c - a) / s. Each draw leaves the posterior invariant, and so do all of them, one after the
other (Gibbs sampling; Neal 1996, *Bayesian Learning for Neural Networks*, chapter 3).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial, singledispatch
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from nlobayes.model.density import Density
from nlobayes.model.hierarchies import GammaPrecision, HalfCauchy, Hierarchical, TensorBNN
from nlobayes.model.networks import SLOPES, Network
from nlobayes.model.posterior import unit_dims
from nlobayes.model.priors import WHITENED, Parameters, arrays_of

Draw = Callable[[jax.Array, jax.Array, jax.Array], tuple[jax.Array, jax.Array]]


class Conditional(NamedTuple):
    """One hyperparameter: its group, its name, and the whitened arrays that it governs.

    `draw(key, c, scale)` gives its new value, as it stands in a position, and what is whitened.
    """

    group: str
    name: str
    arrays: tuple[str, ...]
    draw: Draw


class Conjugates(NamedTuple):
    """What can be drawn given all else.

    `refresh(key, position)` draws the entries `held` of a position anew, and moves the others so
    that every weight stays.
    """

    refresh: Callable[[jax.Array, jax.Array], jax.Array]
    held: np.ndarray


def find_conjugates(prior: Any, network: Network, density: Density) -> Conjugates | None:
    """Find the hyperparameters of a prior that are conjugate; None where there are none.

    Those of slopes are not among them.
    """
    arrays = [one for one in arrays_of(network, unit_dims(network)) if one.role != SLOPES]
    found = conditionals_of(prior, arrays)
    if not found:
        return None
    places = [_indices(density, [one.name]) for one in found]
    governed = [_indices(density, one.arrays) for one in found]

    def refresh(key: jax.Array, position: jax.Array) -> jax.Array:
        now = density.variables(position)
        for number, one in enumerate(found):
            scale, mean = now[f"scale_{one.group}"], now.get(f"mean_{one.group}", 0.0)
            c = mean + scale * position[governed[number]]
            value, whitened = one.draw(jax.random.fold_in(key, number), c, scale)
            position = position.at[places[number]].set(value).at[governed[number]].set(whitened)
        return position

    return Conjugates(refresh, np.concatenate(places))


@singledispatch
def conditionals_of(prior: Any, arrays: Iterable[Parameters]) -> list[Conditional]:
    """List the conjugate hyperparameters of a prior of these arrays."""
    del prior, arrays
    return []


@conditionals_of.register
def _(prior: Hierarchical, arrays: Iterable[Parameters]) -> list[Conditional]:
    hyper = prior.hyper
    if isinstance(hyper, GammaPrecision):
        name, draw = "precision", partial(draw_precision, hyper)
    elif isinstance(hyper, HalfCauchy):
        name, draw = "scale", partial(draw_scale, hyper)
    else:
        return []
    groups: dict[str, list[str]] = {}
    for one in arrays:
        group = prior.group_of(one)
        if group is not None:
            groups.setdefault(group, []).append(one.name + WHITENED)
    return [
        Conditional(group, f"{name}_{group}", tuple(governed), draw)
        for group, governed in groups.items()
    ]


@conditionals_of.register
def _(prior: TensorBNN, arrays: Iterable[Parameters]) -> list[Conditional]:
    return [
        Conditional(one.name, f"mean_{one.name}", (one.name + WHITENED,), partial(draw_mean, prior))
        for one in arrays
    ]


def draw_precision(
    prior: GammaPrecision, key: jax.Array, c: jax.Array, scale: jax.Array
) -> tuple[jax.Array, jax.Array]:
    """Draw the logarithm of a precision from Gamma(shape + n / 2, rate + c'c / 2)."""
    del scale
    precision = _gamma(key, prior.shape + c.size / 2, prior.rate + c @ c / 2)
    return jnp.log(precision), c * jnp.sqrt(precision)


def draw_scale(
    prior: HalfCauchy, key: jax.Array, c: jax.Array, scale: jax.Array
) -> tuple[jax.Array, jax.Array]:
    """Draw the logarithm of a half-Cauchy scale s by way of another variable, u.

    s^-2 given u is Gamma(1/2, u), u is Gamma(1/2, A^-2): u is drawn given s, then s given u and c
    (Makalic and Schmidt 2016, arXiv:1508.03884).
    """
    key_u, key_precision = jax.random.split(key)
    u = _gamma(key_u, 1.0, prior.scale**-2 + scale**-2)
    precision = _gamma(key_precision, (c.size + 1) / 2, u + c @ c / 2)
    return -jnp.log(precision) / 2, c * jnp.sqrt(precision)


def draw_mean(
    prior: TensorBNN, key: jax.Array, c: jax.Array, scale: jax.Array
) -> tuple[jax.Array, jax.Array]:
    """Draw a mean with the prior N(0, mean_sd^2), given the scale."""
    precision = prior.mean_sd**-2 + c.size * scale**-2
    centre = jnp.sum(c) * scale**-2 / precision
    mean = centre + jax.random.normal(key, (), c.dtype) / jnp.sqrt(precision)
    return mean, (c - mean) / scale


def _gamma(key: jax.Array, shape: float, rate: jax.Array) -> jax.Array:
    return jax.random.gamma(key, shape, dtype=rate.dtype) / rate


def _indices(density: Density, names: Iterable[str]) -> np.ndarray:
    return np.concatenate([np.arange(density.size)[density.places[name]] for name in names])
