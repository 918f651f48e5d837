"""The moves of jumps, by name: bijections for a unit or a layer that is taken into use.

Each maps a position of the smaller network, with its unused entries, to one of the larger network,
and back if the jump shrinks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from nlobayes.inference.jumps.jump import Chosen, Jump, Map, Mapped, layer_jumps, unit_jumps
from nlobayes.inference.kernel import LogDensity
from nlobayes.inference.varying_part import Architecture, Arrays, Layers, Units

SCALED = ("split", "identity")
"""Moves with a learned scale."""
LEAST_CURVATURE = 0.1
"""Least curvature of the log density along outgoing weights where it has no maximum."""
SPLIT_OUT = 0.5**0.5
"""Sd of the outgoing weights of a half of a unit, about half of the unit's, in prior units."""


class Gaussian(NamedTuple):
    """A Gaussian: mean (entry,), and eigenvalues and eigenvectors of the inverse covariance."""

    mean: jax.Array
    values: jax.Array
    vectors: jax.Array

    def place(self, standard: jax.Array) -> jax.Array:
        """Map standard normals to draws of it, by the symmetric root of the covariance."""
        return self.mean + self.vectors @ ((self.vectors.T @ standard) / jnp.sqrt(self.values))

    def standardise(self, value: jax.Array) -> jax.Array:
        """Invert `place`."""
        return self.vectors @ ((self.vectors.T @ (value - self.mean)) * jnp.sqrt(self.values))

    def log_root(self) -> jax.Array:
        """Return the log of the determinant of the root."""
        return -0.5 * jnp.sum(jnp.log(self.values))


class Expansion(NamedTuple):
    """Second-order expansion of a log density along some entries of a position."""

    logdensity_fn: Callable[..., jax.Array]
    arrays: Arrays | None
    among: np.ndarray

    def at(self, position: jax.Array, at: jax.Array) -> Gaussian:
        """Find the Gaussian whose gradient and curvature at zero are those of the log density.

        It depends on all entries except those `at` the given places. If the log density is
        quadratic in these, it is their exact conditional.
        """

        def along(weights: jax.Array) -> jax.Array:
            if self.arrays is None:
                return self.logdensity_fn(position.at[at].set(weights))
            return self.logdensity_fn(self.arrays.put(position, at, weights, self.among))

        zero = jnp.zeros(at.shape, position.dtype)
        gradient, curvature = jax.grad(along)(zero), -jax.hessian(along)(zero)
        values, vectors = jnp.linalg.eigh(curvature)
        held = jnp.maximum(values, LEAST_CURVATURE)
        return Gaussian(vectors @ ((vectors.T @ gradient) / held), held, vectors)


def unchanged(position: jax.Array, chosen: Chosen) -> Mapped:
    """Take a unit or a layer into use with its current values: a draw from its prior."""
    del chosen
    return position, jnp.zeros((), position.dtype)


def output_aware(units: Units, logdensity_fn: LogDensity, arrays: Arrays | None = None) -> Map:
    """Give a new unit outgoing weights that fit the residuals of the current network.

    They are those of `Expansion`: exact where the next layer is the output of a Gaussian
    likelihood.
    """
    expansion = Expansion(logdensity_fn, arrays, units.out)

    def mapped(position: jax.Array, chosen: Chosen) -> Mapped:
        at = jnp.asarray(units.out)[chosen.place]
        gaussian, held = expansion.at(position, at), position[at]
        new = jnp.where(chosen.grow, gaussian.place(held), gaussian.standardise(held))
        return position.at[at].set(new), jnp.where(chosen.grow, 1, -1) * gaussian.log_root()

    return mapped


def near_identity(layers: Layers) -> Map:
    """Give a new layer entries near those of the identity, with the scale as sd.

    The entries of the identity depend on learned scales only, which the map does not change.
    """

    def mapped(position: jax.Array, chosen: Chosen) -> Mapped:
        at = jnp.asarray(layers.entries)[chosen.place]
        centre = layers.identity(position)[chosen.place].astype(position.dtype)
        held, scale = position[at], chosen.scale
        new = jnp.where(chosen.grow, centre + scale * held, (held - centre) / scale)
        return position.at[at].set(new), jnp.where(chosen.grow, 1, -1) * at.size * jnp.log(scale)

    return mapped


def refitted(layers: Layers, logdensity_fn: LogDensity, arrays: Arrays | None = None) -> Map:
    """Refit the output weights to one more hidden layer, which is a draw from its prior.

    They keep their place within their conditional Gaussian (`Expansion`): where that is exact, the
    jump is accepted by the ratio of the evidences with the output layer integrated out.
    """
    at = jnp.asarray(layers.readout)
    expansion = Expansion(logdensity_fn, arrays, layers.readout)

    def mapped(position: jax.Array, chosen: Chosen) -> Mapped:
        before = expansion.at(position, at)
        after = expansion.at(layers.change(position, chosen.grow), at)
        fitted = after.place(before.standardise(position[at]))
        return position.at[at].set(fitted), after.log_root() - before.log_root()

    return mapped


def split(units: Units) -> Map:
    """Split a unit into two that together act nearly as before, and merge two into one.

    A unit (u, v) and unused entries (a, b) become (u + s a, v/2 + t b) and (u - s a, v/2 - t b), s
    the scale. With `SPLIT_OUT` as t the weights v and b keep their prior to leading order.
    """
    into, out = jnp.asarray(units.into), jnp.asarray(units.out)

    def mapped(position: jax.Array, chosen: Chosen) -> Mapped:
        one, two, scale = chosen.other, chosen.place, chosen.scale
        u = _part(position[into[one]], position[into[two]], chosen.grow, 1.0, scale)
        v = _part(position[out[one]], position[out[two]], chosen.grow, 0.5, SPLIT_OUT)
        new = position.at[into[one]].set(u[0]).at[into[two]].set(u[1])
        new = new.at[out[one]].set(v[0]).at[out[two]].set(v[1])
        jacobian = into.shape[1] * jnp.log(2 * scale) + out.shape[1] * jnp.log(SPLIT_OUT)
        return new, jnp.where(chosen.grow, 1, -1) * jacobian

    return mapped


def _part(
    one: jax.Array, two: jax.Array, grow: jax.Array, share: float, step: float | jax.Array
) -> tuple[jax.Array, jax.Array]:
    """Map (whole, apart) to whole * share +- apart * step, and back."""
    halves = (share * one + step * two, share * one - step * two)
    whole = ((one + two) / (2 * share), (one - two) / (2 * step))
    return jnp.where(grow, halves[0], whole[0]), jnp.where(grow, halves[1], whole[1])


def jumps_of(
    architecture: Architecture, moves: Sequence[str], logdensity_fn: LogDensity
) -> dict[str, Jump]:
    """Build the jumps that the moves allow, by the names under which they are recorded."""
    built: dict[str, Jump] = {}
    arrays, layers = architecture.arrays, architecture.layers
    for move in moves:
        for number, units in enumerate(architecture.units, start=1):
            conditional = output_aware(units, logdensity_fn, arrays)
            maps = {"prior": unchanged, "conditional": conditional, "split": split(units)}
            if move in maps:
                built[f"{move}_{number}"] = unit_jumps(units, maps[move])
        if layers is not None:
            conditional, identity = refitted(layers, logdensity_fn, arrays), near_identity(layers)
            maps = {"prior": unchanged, "conditional": conditional, "identity": identity}
            if move in maps:
                built[f"{move}_layer"] = layer_jumps(layers, maps[move])
    return built
