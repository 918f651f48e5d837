"""Jumps between architectures: what is proposed, and each factor of the ratio that accepts it.

A jump that grows chooses what is not in use, maps the position by a bijection, and takes it into
use; the jump back inverts all three. The position has the entries of the largest network, so that
no number is drawn: what is not in use plays the part of the random numbers of Green (1995,
Biometrika 82, 711), and its prior that of their density. docs/reversible_jump.md derives the ratio.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from nlobayes.inference.architecture import Layers, Units
from nlobayes.inference.kernel import LogDensity

LEAST_CURVATURE = 0.1
"""Of the log density along weights that a unit sends on, where it is no maximum."""
SPLIT_WEIGHTS = 0.25
"""How far the halves of a unit stand apart, in units of the prior of what enters it."""
SPLIT_SHARES = 0.25
"""Sd of the share that a half takes of what the unit sends on, about one half."""
NEAR_IDENTITY = 0.3
"""Sd of the entries of a new layer about those of the identity, in units of their prior."""

Mapped = tuple[jax.Array, jax.Array]
"""A position (parameter,) and the log of the Jacobian of the map that led to it."""

Map = Callable[[jax.Array, jax.Array, jax.Array], Mapped]
"""Of a position, the place that grows or shrinks, and another in use."""


class Ratio(NamedTuple):
    """The logs of the factors of the acceptance ratio.

    Attributes
    ----------
    target
        Density of the new position over that of the old one.
    jacobian
        Determinant of the map.
    direction
        Probability of turning back, over that of the direction taken; 0 out of the range.
    choice
        Probability of choosing the same place on the way back, over that of choosing it.
    """

    target: jax.Array
    jacobian: jax.Array
    direction: jax.Array
    choice: jax.Array

    def total(self) -> jax.Array:
        """Sum all of them."""
        return self.target + self.jacobian + self.direction + self.choice


class Chosen(NamedTuple):
    """Whether a jump grows, where, which other unit takes part, and what that contributes."""

    grow: jax.Array
    place: jax.Array
    other: jax.Array
    direction: jax.Array
    choice: jax.Array


class Jump(NamedTuple):
    """A jump: its choice by a key and a position, and the bijection there and back."""

    choose: Callable[[jax.Array, jax.Array], Chosen]
    grow: Map
    shrink: Map


class UnitMap(NamedTuple):
    """A bijection for a unit that is taken into use at a place, beside another unit in use.

    Both ways take the position with the unit marked as in use.
    """

    grow: Map
    shrink: Map
    fewest: int = 0


def of_units(units: Units, mapped: UnitMap) -> Jump:
    """Build the birth and the death of a unit of a layer, at a place chosen uniformly."""
    most, fewest, used_at = len(units.used), max(units.fewest, mapped.fewest), units.used

    def choose(key: jax.Array, position: jax.Array) -> Chosen:
        key_direction, key_place, key_other = jax.random.split(key, 3)
        used, count = position[used_at] > 0.5, units.in_use(position)
        grow = jax.random.uniform(key_direction, ()) < _growing(count, fewest, most)
        place = _choose(key_place, used != grow)
        other = _choose(key_other, used & (jnp.arange(most) != place))
        free = most - count
        choice = jnp.where(grow, _log(free) - _log(count + 1), _log(count) - _log(free + 1))
        return Chosen(grow, place, other, _direction(grow, count, fewest, most), choice)

    def grow(position: jax.Array, place: jax.Array, other: jax.Array) -> Mapped:
        return mapped.grow(position.at[jnp.asarray(used_at)[place]].set(1), place, other)

    def shrink(position: jax.Array, place: jax.Array, other: jax.Array) -> Mapped:
        new, jacobian = mapped.shrink(position, place, other)
        return new.at[jnp.asarray(used_at)[place]].set(0), jacobian

    return Jump(choose, grow, shrink)


def of_layers(layers: Layers, near_identity: float | None) -> Jump:
    """Build the birth and the death of the last hidden layer.

    A new layer has the entries that its place holds, or lies near the identity.
    """
    most, scale = 1 + len(layers.entries), near_identity

    def choose(key: jax.Array, position: jax.Array) -> Chosen:
        count = layers.in_use(position)
        grow = jax.random.uniform(key, ()) < _growing(count, layers.fewest, most)
        place = jnp.clip(jnp.where(grow, count - 1, count - 2), 0, most - 2)
        direction = _direction(grow, count, layers.fewest, most)
        return Chosen(grow, place, place, direction, jnp.zeros((), direction.dtype))

    def grow(position: jax.Array, place: jax.Array, other: jax.Array) -> Mapped:
        del other
        new, at = position.at[layers.count_at].add(1), jnp.asarray(layers.entries)[place]
        if scale is None:
            return new, jnp.zeros((), new.dtype)
        centre = jnp.asarray(layers.identity, new.dtype)[place]
        jacobian = jnp.asarray(at.size * np.log(scale), new.dtype)
        return new.at[at].set(centre + scale * position[at]), jacobian

    def shrink(position: jax.Array, place: jax.Array, other: jax.Array) -> Mapped:
        del other
        new, at = position.at[layers.count_at].add(-1), jnp.asarray(layers.entries)[place]
        if scale is None:
            return new, jnp.zeros((), new.dtype)
        centre = jnp.asarray(layers.identity, new.dtype)[place]
        jacobian = jnp.asarray(-at.size * np.log(scale), new.dtype)
        return new.at[at].set((position[at] - centre) / scale), jacobian

    return Jump(choose, grow, shrink)


def from_prior() -> UnitMap:
    """Take a unit into use as its place holds it: a draw from its prior."""

    def same(position: jax.Array, place: jax.Array, other: jax.Array) -> Mapped:
        del place, other
        return position, jnp.zeros((), position.dtype)

    return UnitMap(same, same)


def output_aware(units: Units, logdensity_fn: LogDensity) -> UnitMap:
    """Give a new unit weights to the next layer that fit what is not yet explained.

    They have mean and covariance of the Gaussian whose gradient and curvature are those of the log
    density at zero: their exact conditional given all else where the next layer is the output of
    a Gaussian likelihood.
    """

    def conditional(position: jax.Array, at: jax.Array) -> tuple[jax.Array, jax.Array]:
        def along(weights: jax.Array) -> jax.Array:
            return logdensity_fn(position.at[at].set(weights))

        zero = jnp.zeros(at.shape, position.dtype)
        values, vectors = jnp.linalg.eigh(-jax.hessian(along)(zero))
        held = jnp.maximum(values, LEAST_CURVATURE)
        mean = vectors @ ((vectors.T @ jax.grad(along)(zero)) / held)
        return mean, vectors / jnp.sqrt(held)

    def grow(position: jax.Array, place: jax.Array, other: jax.Array) -> Mapped:
        del other
        at = jnp.asarray(units.out)[place]
        mean, root = conditional(position, at)
        return position.at[at].set(mean + root @ position[at]), jnp.linalg.slogdet(root)[1]

    def shrink(position: jax.Array, place: jax.Array, other: jax.Array) -> Mapped:
        del other
        at = jnp.asarray(units.out)[place]
        mean, root = conditional(position, at)
        held = jnp.linalg.solve(root, position[at] - mean)
        return position.at[at].set(held), -jnp.linalg.slogdet(root)[1]

    return UnitMap(grow, shrink)


def split(units: Units) -> UnitMap:
    """Split a unit in two that together do nearly the same, and merge two into one.

    A unit (u, v) and unused entries (a, b) become (u + 2 s (1 - r) a, r v) and (u - 2 s r a,
    (1 - r) v) with r = 1/2 + t b: to first order in s the sum is what it was.
    """

    def grow(position: jax.Array, place: jax.Array, other: jax.Array) -> Mapped:
        into, out = jnp.asarray(units.into), jnp.asarray(units.out)
        shares = 0.5 + SPLIT_SHARES * position[out[place]]
        whole, share, apart = position[out[other]], jnp.mean(shares), position[into[place]]
        step, centre = 2 * SPLIT_WEIGHTS * apart, position[into[other]]
        new = position.at[into[other]].set(centre + (1 - share) * step)
        new = new.at[into[place]].set(centre - share * step)
        new = new.at[out[other]].set(shares * whole)
        new = new.at[out[place]].set((1 - shares) * whole)
        return new, _split_jacobian(apart.size, whole)

    def shrink(position: jax.Array, place: jax.Array, other: jax.Array) -> Mapped:
        into, out = jnp.asarray(units.into), jnp.asarray(units.out)
        whole = position[out[other]] + position[out[place]]
        shares = position[out[other]] / whole
        share = jnp.mean(shares)
        step = position[into[other]] - position[into[place]]
        new = position.at[into[other]].set(position[into[other]] - (1 - share) * step)
        new = new.at[into[place]].set(step / (2 * SPLIT_WEIGHTS))
        new = new.at[out[other]].set(whole)
        new = new.at[out[place]].set((shares - 0.5) / SPLIT_SHARES)
        return new, -_split_jacobian(step.size, whole)

    return UnitMap(grow, shrink, fewest=1)


def _split_jacobian(entering: int, whole: jax.Array) -> jax.Array:
    each = jnp.log(SPLIT_SHARES * jnp.abs(whole))
    return entering * jnp.log(2 * SPLIT_WEIGHTS) + jnp.sum(each)


def _growing(count: jax.Array, fewest: int, most: int) -> jax.Array:
    """Give the probability of growing: one half, at the ends of the range 0 or 1."""
    inside = jnp.where(count <= fewest, 1.0, 0.5)
    return jnp.where(count >= most, 0.0, inside)


def _direction(grow: jax.Array, count: jax.Array, fewest: int, most: int) -> jax.Array:
    """Give the log ratio of turning back; -inf for a step that leaves the range."""
    new = count + jnp.where(grow, 1, -1)
    going, back = _growing(count, fewest, most), _growing(new, fewest, most)
    ratio = jnp.where(grow, _log(1 - back) - _log(going), _log(back) - _log(1 - going))
    return jnp.where((new < fewest) | (new > most), -jnp.inf, ratio)


def _log(value: jax.Array) -> jax.Array:
    return jnp.log(jnp.asarray(value, float))


def _choose(key: jax.Array, possible: jax.Array) -> jax.Array:
    """Choose a place uniformly among the possible; any where none is."""
    return jnp.argmax(jnp.where(possible, jax.random.uniform(key, possible.shape), -1.0))
