"""What a likelihood is: the distribution of the target around the outputs of a network.

A likelihood observes the target in a PyMC model, and defines the meaning of the outputs of the
network. PyMC is imported only where a model is built, because predictions do not need it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from nlobayes.untyped import Array, Module

TARGET = "target"
NOISE = "noise"
DEGREES = "degrees_of_freedom"
ERROR = f"{TARGET}_error"
CLASS = "int32"
"""The type of a class in PyMC."""

FEWEST_DEGREES = 2.0


class Noise(NamedTuple):
    """The noise of a target by its likelihood: family, centre, scale and degrees of freedom.

    Centre and scale are in the network's units and broadcast over (point,); a scale is the sd of a
    Gaussian, and the scale of a Student-t or a Laplace distribution.
    """

    family: str
    centre: Array
    scale: Array
    degrees_of_freedom: Array = None


class Likelihood(ABC):
    """An object that observes the target around the outputs of a network.

    Errors are the sd of the numerical noise of every target, which adds to the scale in quadrature;
    `xp` is the array module.
    """

    def outputs(self, targets: int) -> int:
        """Count the network's outputs for this number of targets or classes."""
        return targets

    @abstractmethod
    def observe(self, output: Array, target: Array, error: Array) -> Array:
        """Observe the target (point,) or (point, output) as a PyMC variable."""

    def quantities(self, output: Array, xp: Module) -> Array:
        """Return the functions whose convergence is checked at each point: the outputs."""
        del xp
        return output

    @abstractmethod
    def noise_about(
        self, output: Array, variables: Mapping[str, Array], error: Array, xp: Module
    ) -> Noise | None:
        """Return the distribution of the target at each point; None for classes."""

    def moved(
        self, output: Array, variables: Mapping[str, Array], error: Array, xp: Module
    ) -> Array:
        """Return the distribution parameters that vary with position: (point,) or (point, entry).

        They are the outputs, and the logarithms of a learned scale and learned degrees of freedom.
        """
        del variables, error, xp
        return output

    @abstractmethod
    def information_root(
        self, output: Array, variables: Mapping[str, Array], error: Array, xp: Module
    ) -> Array:
        """Return R (point, row, entry); R'R is the Fisher information of the entries of `moved`."""


def add_in_quadrature(scale: Array, error: Array, xp: Module) -> Array:
    """Add the error of a target, where there is one, to a scale."""
    return scale if error is None else xp.sqrt(scale**2 + error**2)


def diagonal(root: Array, output: Array, xp: Module) -> Array:
    """Expand a root that broadcasts over outputs (point,) or (point, output) to a diagonal."""
    each = xp.broadcast_to(root, output.shape)
    each = each[..., None] if output.ndim == 1 else each
    return each[..., None] * xp.eye(each.shape[-1], dtype=each.dtype)


def join_blocks(blocks: Sequence[Sequence[Array]], output: Array, xp: Module) -> Array:
    """Join roots that are diagonal in the same targets into the root of all entries."""
    rows = [[diagonal(root, output, xp) for root in row] for row in blocks]
    joined = [row[0] if len(row) == 1 else xp.concatenate(row, axis=-1) for row in rows]
    return joined[0] if len(joined) == 1 else xp.concatenate(joined, axis=-2)


def append_entries(output: Array, learned: Sequence[Array], xp: Module) -> Array:
    """Append arrays of the same shape to outputs (point,) or (point, output) as entries."""
    if not learned:
        return output
    every = [xp.broadcast_to(one, output.shape) for one in (output, *learned)]
    return xp.concatenate([one.reshape(len(output), -1) for one in every], axis=-1)
