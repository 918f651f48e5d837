"""The varying part of a network without fixed size, and its entries in a position.

A position has the entries of the largest network, and indicators of the part in use.
Entries that are not in use have their prior, and the likelihood does not depend on them. They
integrate out exactly, so that the marginal of the others is the posterior over all architectures
(Carlin and Chib 1995, J. R. Stat. Soc. B 57, 473; Godsill 2001, J. Comput. Graph. Stat. 10, 230).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np


class Arrays(NamedTuple):
    """The arrays that make up a position, in order; a log density also accepts them separately.

    A derivative along entries of one array then repeats no computation of the other arrays.
    """

    split: Callable[[jax.Array], list[jax.Array]]
    places: tuple[slice, ...]

    def put(
        self, position: jax.Array, at: jax.Array, values: jax.Array, among: np.ndarray
    ) -> list[jax.Array]:
        """Replace entries at the places `at`, a subset of the static places `among` (any shape)."""
        arrays = list(self.split(position))
        for number, place in enumerate(self.places):
            if not np.any((among >= place.start) & (among < place.stop)):
                continue
            size, shape = place.stop - place.start, arrays[number].shape
            local = jnp.where((at >= place.start) & (at < place.stop), at - place.start, size)
            flat = arrays[number].ravel().at[local].set(values, mode="drop")
            arrays[number] = flat.reshape(shape)
        return arrays


class Units(NamedTuple):
    """The units of a hidden layer, any of which may be in use."""

    used: np.ndarray
    """Places of the indicators (unit,): 1 for a unit in use, else 0."""
    into: np.ndarray
    """Places of the incoming parameters of a unit (unit, entry): weights, bias and slope."""
    out: np.ndarray
    """Places of its outgoing weights (unit, entry)."""
    fewest: int
    """Least number of units that the prior allows."""

    def in_use(self, position: jax.Array) -> jax.Array:
        """Count the units in use."""
        return jnp.sum(position[self.used]).astype(int)


Identity = Callable[[jax.Array], jax.Array]
"""Gives for a position (parameter,) entries that make each layer the identity (layer, entry)."""


class Layers(NamedTuple):
    """The hidden layers after the first; a variable number of them is in use, in order."""

    count_at: int
    """Place of the number of hidden layers in use, including the first."""
    entries: np.ndarray
    """Places of the weights and biases of each layer after the first (layer, entry)."""
    identity: Identity
    """Gives for a position the values of these entries that make each layer the identity (layer,
    entry). They depend on no entry of any layer."""
    readout: np.ndarray
    """Places of the weights and biases of the output layer (entry,)."""
    fewest: int
    """Least number of hidden layers that the prior allows."""

    def in_use(self, position: jax.Array) -> jax.Array:
        """Count the hidden layers in use."""
        return jnp.round(position[self.count_at]).astype(int)

    def change(self, position: jax.Array, grow: jax.Array) -> jax.Array:
        """Increase or decrease the number of layers in use by one."""
        return position.at[self.count_at].add(jnp.where(grow, 1, -1).astype(position.dtype))


class Architecture(NamedTuple):
    """The varying part of a network: units of some hidden layers, and the number of layers.

    `arrays` holds the arrays of a position if the log density accepts them separately.
    """

    units: tuple[Units, ...]
    layers: Layers | None = None
    arrays: Arrays | None = None

    @property
    def indicators(self) -> np.ndarray:
        """Places of the indicators, which gradient-based moves leave unchanged."""
        depth = [] if self.layers is None else [self.layers.count_at]
        return np.concatenate([*(units.used for units in self.units), depth]).astype(int)

    def numbers(self, position: jax.Array) -> dict[str, jax.Array]:
        """Count the units and layers in use, by their names in the model."""
        found = {f"width_{n}": units.in_use(position) for n, units in enumerate(self.units, 1)}
        return found if self.layers is None else {**found, "depth": self.layers.in_use(position)}

    @property
    def sizes(self) -> int:
        """Number of sizes that `size` distinguishes."""
        widths = 1 + sum(len(units.used) for units in self.units)
        return widths * (1 if self.layers is None else 1 + len(self.layers.entries))

    def size(self, position: jax.Array) -> jax.Array:
        """Return the number of a size: units in use in all layers together, and layers in use."""
        widths = sum((units.in_use(position) for units in self.units), start=jnp.zeros((), int))
        if self.layers is None:
            return widths
        return widths * (1 + len(self.layers.entries)) + self.layers.in_use(position) - 1
