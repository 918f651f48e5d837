"""Jumps between architectures: the choice of a place, and the factors of the acceptance ratio.

A jump that grows chooses an unused unit or layer, maps the position by a bijection (`moves`),
and takes it into use; the jump back inverts all three. The position has the entries of the largest
network, so that no number is drawn: the unused entries are the random numbers of Green (1995,
Biometrika 82, 711), and their prior is the density of these. docs/reversible_jump.md derives the
ratio.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp

from nlobayes.inference.varying_part import Layers, Units


class Ratio(NamedTuple):
    """The logs of the factors of the acceptance ratio."""

    target: jax.Array
    """Density of the new position over that of the old one."""
    jacobian: jax.Array
    """Determinant of the map."""
    direction: jax.Array
    """Probability of the opposite direction, over that of the direction taken; 0 out of the range.
    """
    choice: jax.Array
    """Probability of choosing the same place on the way back, over that of choosing it."""

    def total(self) -> jax.Array:
        """Sum all factors."""
        return self.target + self.jacobian + self.direction + self.choice


class Chosen(NamedTuple):
    """The choice of a jump: whether it grows, its place, its partner unit, and its log ratio.

    `scale` is the size of the change, for maps that have one.
    """

    grow: jax.Array
    place: jax.Array
    other: jax.Array
    scale: jax.Array
    direction: jax.Array
    choice: jax.Array


Mapped = tuple[jax.Array, jax.Array]
"""A position (parameter,) and the log of the Jacobian of the map that led to it."""

Map = Callable[[jax.Array, Chosen], Mapped]
"""A bijection of a position, given the choice, if the jump grows, and its inverse otherwise."""


class Jump(NamedTuple):
    """A jump: its choice from a key, a position and a scale, and its bijection both ways."""

    choose: Callable[[jax.Array, jax.Array, jax.Array], Chosen]
    apply: Map


def unit_jumps(units: Units, mapped: Map) -> Jump:
    """Build the birth and the death of a unit of a layer, at a place chosen uniformly.

    In both directions the map gets a position with the unit in use.
    """
    most, fewest, used_at = len(units.used), units.fewest, units.used

    def choose(key: jax.Array, position: jax.Array, scale: jax.Array) -> Chosen:
        key_direction, key_place, key_other = jax.random.split(key, 3)
        used, count = position[used_at] > 0.5, units.in_use(position)
        grow = jax.random.uniform(key_direction, ()) < _growing(count, fewest, most)
        place = _choose(key_place, used != grow)
        other = _choose(key_other, used & (jnp.arange(most) != place))
        free = most - count
        choice = jnp.where(grow, _log(free) - _log(count + 1), _log(count) - _log(free + 1))
        return Chosen(grow, place, other, scale, _direction(grow, count, fewest, most), choice)

    def apply(position: jax.Array, chosen: Chosen) -> Mapped:
        at = jnp.asarray(used_at)[chosen.place]
        new, jacobian = mapped(position.at[at].set(1), chosen)
        return new.at[at].set(chosen.grow.astype(new.dtype)), jacobian

    return Jump(choose, apply)


def layer_jumps(layers: Layers, mapped: Map) -> Jump:
    """Build the birth and the death of the last hidden layer."""
    most = 1 + len(layers.entries)

    def choose(key: jax.Array, position: jax.Array, scale: jax.Array) -> Chosen:
        count = layers.in_use(position)
        grow = jax.random.uniform(key, ()) < _growing(count, layers.fewest, most)
        place = jnp.clip(jnp.where(grow, count - 1, count - 2), 0, most - 2)
        direction = _direction(grow, count, layers.fewest, most)
        return Chosen(grow, place, place, scale, direction, jnp.zeros((), direction.dtype))

    def apply(position: jax.Array, chosen: Chosen) -> Mapped:
        new, jacobian = mapped(position, chosen)
        return layers.change(new, chosen.grow), jacobian

    return Jump(choose, apply)


def _growing(count: jax.Array, fewest: int, most: int) -> jax.Array:
    """Return the probability of growing: one half, and 0 or 1 at the ends of the range."""
    inside = jnp.where(count <= fewest, 1.0, 0.5)
    return jnp.where(count >= most, 0.0, inside)


def _direction(grow: jax.Array, count: jax.Array, fewest: int, most: int) -> jax.Array:
    """Return the log ratio of the opposite direction; -inf for a step that leaves the range."""
    new = count + jnp.where(grow, 1, -1)
    going, back = _growing(count, fewest, most), _growing(new, fewest, most)
    ratio = jnp.where(grow, _log(1 - back) - _log(going), _log(back) - _log(1 - going))
    return jnp.where((new < fewest) | (new > most), -jnp.inf, ratio)


def _log(value: jax.Array) -> jax.Array:
    return jnp.log(jnp.asarray(value, float))


def _choose(key: jax.Array, possible: jax.Array) -> jax.Array:
    """Choose one of the possible places uniformly; any place if none is possible."""
    return jnp.argmax(jnp.where(possible, jax.random.uniform(key, possible.shape), -1.0))
