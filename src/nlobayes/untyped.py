"""Names of values that no type checker can follow."""

from collections.abc import Mapping
from typing import Any, TypeAlias

Array: TypeAlias = Any
"""An array of NumPy or JAX, or a tensor of PyTensor, which has no types."""

Module: TypeAlias = Any
"""The module `numpy`, `jax.numpy` or `pytensor.tensor`."""

Tree: TypeAlias = Any
"""A pytree of JAX arrays, whose structure the kernel or the adaptation at hand defines."""

Facts: TypeAlias = Mapping[str, Any]
"""What JSON, YAML or the attributes of a file hold, by key."""

Document: TypeAlias = dict[str, Any]
"""Facts that are put together."""

Points: TypeAlias = Any
"""Points of a user: rows of numbers, a table, or values by the names of columns."""
