"""Activations of hidden units, one file each, by name; for PyTensor, JAX and NumPy.

`leaky_relu(0.3)` is the leaky rectified linear unit with the slope 0.3 below zero, TensorBNN's
(arXiv:2009.14393, table 1). A function of the user may replace a name; its arguments are an
array module and an array.
"""

import re
from collections.abc import Callable
from typing import Any, Protocol

from nlobayes.families import Family


class Activation(Protocol):
    """Required contents of the module of an activation."""

    HAS_SLOPES: bool
    """Whether each unit has a slope that is trained."""

    def activate(self, xp: Any, x: Any, slopes: Any = None, **constants: float) -> Any:
        """Apply the activation to `x` with an array module, and with slopes if it has any."""
        ...


ACTIVATIONS: Family[Activation] = Family(__name__, __file__)


Named = str | Callable[[Any, Any], Any]
"""The name of an activation, or a function of an array module and an array."""

LEAKY = re.compile(r"(leaky_relu)\((0\.[0-9]*[1-9][0-9]*)\)")
"""A name with the slope below zero, between 0 and 1."""


def is_known(name: Any) -> bool:
    """Return whether this is the name of an activation, with its slope or without."""
    return isinstance(name, str) and (name in ACTIVATIONS or LEAKY.fullmatch(name) is not None)


def activate(name: Named, xp: Any, x: Any, slopes: Any = None) -> Any:
    """Apply the activation of this name to `x` with an array module."""
    if not isinstance(name, str):
        return name(xp, x)
    leaky = LEAKY.fullmatch(name)
    if leaky is None:
        return ACTIVATIONS[name].activate(xp, x, slopes)
    return ACTIVATIONS[leaky[1]].activate(xp, x, leak=float(leaky[2]))


def has_slopes(activation: object) -> bool:
    """Return whether an activation has slopes that are trained, one for each unit."""
    return (
        isinstance(activation, str)
        and activation in ACTIVATIONS
        and ACTIVATIONS[activation].HAS_SLOPES
    )
