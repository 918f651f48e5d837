"""The bijections of jumps: what a unit or a layer that is taken into use becomes.

Each maps a position of the smaller network with all that it does not use into one of the larger,
and back where the jump shrinks.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp

from nlobayes.inference.architecture import Layers, Units
from nlobayes.inference.jumps import Chosen, Map, Mapped
from nlobayes.inference.kernel import LogDensity

LEAST_CURVATURE = 0.1
"""Of the log density along weights that a unit or a layer sends on, where it is no maximum."""
SPLIT_SHARES = 0.25
"""Sd of the share that a half takes of what the unit sends on, about one half."""


class Gaussian(NamedTuple):
    """A Gaussian by its mean (entry,), and the values and vectors of its inverse covariance."""

    mean: jax.Array
    values: jax.Array
    vectors: jax.Array

    def place(self, standard: jax.Array) -> jax.Array:
        """Turn standard normals into its own, by the symmetric root of the covariance."""
        return self.mean + self.vectors @ ((self.vectors.T @ standard) / jnp.sqrt(self.values))

    def standardise(self, value: jax.Array) -> jax.Array:
        """Invert `place`."""
        return self.vectors @ ((self.vectors.T @ (value - self.mean)) * jnp.sqrt(self.values))

    def log_root(self) -> jax.Array:
        """Give the log of the determinant of the root."""
        return -0.5 * jnp.sum(jnp.log(self.values))


def expand(logdensity_fn: LogDensity, position: jax.Array, at: jax.Array) -> Gaussian:
    """Find the Gaussian whose gradient and curvature at zero are those of the log density.

    It is a function of all entries but those `at` some places, whose exact conditional it is where
    the log density is quadratic in them.
    """

    def along(weights: jax.Array) -> jax.Array:
        return logdensity_fn(position.at[at].set(weights))

    zero = jnp.zeros(at.shape, position.dtype)
    gradient, curvature = jax.grad(along)(zero), -jax.hessian(along)(zero)
    values, vectors = jnp.linalg.eigh(curvature)
    held = jnp.maximum(values, LEAST_CURVATURE)
    return Gaussian(vectors @ ((vectors.T @ gradient) / held), held, vectors)


def unchanged(position: jax.Array, chosen: Chosen) -> Mapped:
    """Take a unit or a layer into use as its place holds it: a draw from its prior."""
    del chosen
    return position, jnp.zeros((), position.dtype)


def output_aware(units: Units, logdensity_fn: LogDensity) -> Map:
    """Give a new unit weights to the next layer that fit what is not yet explained.

    They are those of `expand`: exact where the next layer is the output of a Gaussian likelihood.
    """

    def mapped(position: jax.Array, chosen: Chosen) -> Mapped:
        at = jnp.asarray(units.out)[chosen.place]
        gaussian, held = expand(logdensity_fn, position, at), position[at]
        new = jnp.where(chosen.grow, gaussian.place(held), gaussian.standardise(held))
        return position.at[at].set(new), jnp.where(chosen.grow, 1, -1) * gaussian.log_root()

    return mapped


def near_identity(layers: Layers) -> Map:
    """Give a new layer entries about those of the identity, of which the scale is the sd."""

    def mapped(position: jax.Array, chosen: Chosen) -> Mapped:
        at = jnp.asarray(layers.entries)[chosen.place]
        centre = jnp.asarray(layers.identity, position.dtype)[chosen.place]
        held, scale = position[at], chosen.scale
        new = jnp.where(chosen.grow, centre + scale * held, (held - centre) / scale)
        return position.at[at].set(new), jnp.where(chosen.grow, 1, -1) * at.size * jnp.log(scale)

    return mapped


def refitted(layers: Layers, logdensity_fn: LogDensity, inner: Map) -> Map:
    """Give the output layer weights that fit the hidden layers of another number.

    They keep their place within their conditional Gaussian (`expand`): where that is exact, the
    jump is accepted by the ratio of the evidences with the output layer integrated out.
    """
    at = jnp.asarray(layers.readout)

    def mapped(position: jax.Array, chosen: Chosen) -> Mapped:
        new, jacobian = inner(position, chosen)
        before = expand(logdensity_fn, position, at)
        after = expand(logdensity_fn, layers.change(new, chosen.grow), at)
        fitted = after.place(before.standardise(position[at]))
        return new.at[at].set(fitted), jacobian + after.log_root() - before.log_root()

    return mapped


def split(units: Units) -> Map:
    """Split a unit in two that together do nearly the same, and merge two into one.

    A unit (u, v) and unused entries (a, b) become (u + 2 s (1 - r) a, r v) and (u - 2 s r a,
    (1 - r) v) with r = 1/2 + t b: to first order in the scale s the sum is what it was.
    """
    into, out = jnp.asarray(units.into), jnp.asarray(units.out)

    def grow(position: jax.Array, chosen: Chosen) -> Mapped:
        place, other = chosen.place, chosen.other
        shares = 0.5 + SPLIT_SHARES * position[out[place]]
        whole, share, apart = position[out[other]], jnp.mean(shares), position[into[place]]
        step, centre = 2 * chosen.scale * apart, position[into[other]]
        new = position.at[into[other]].set(centre + (1 - share) * step)
        new = new.at[into[place]].set(centre - share * step)
        new = new.at[out[other]].set(shares * whole)
        new = new.at[out[place]].set((1 - shares) * whole)
        return new, _split_jacobian(chosen.scale, apart.size, whole)

    def shrink(position: jax.Array, chosen: Chosen) -> Mapped:
        place, other = chosen.place, chosen.other
        whole = position[out[other]] + position[out[place]]
        shares = position[out[other]] / whole
        share = jnp.mean(shares)
        step = position[into[other]] - position[into[place]]
        new = position.at[into[other]].set(position[into[other]] - (1 - share) * step)
        new = new.at[into[place]].set(step / (2 * chosen.scale))
        new = new.at[out[other]].set(whole)
        new = new.at[out[place]].set((shares - 0.5) / SPLIT_SHARES)
        return new, -_split_jacobian(chosen.scale, step.size, whole)

    def mapped(position: jax.Array, chosen: Chosen) -> Mapped:
        found: Mapped = jax.lax.cond(chosen.grow, grow, shrink, position, chosen)
        return found

    return mapped


def _split_jacobian(scale: jax.Array, entering: int, whole: jax.Array) -> jax.Array:
    each = jnp.log(SPLIT_SHARES * jnp.abs(whole))
    return entering * jnp.log(2 * scale) + jnp.sum(each)
