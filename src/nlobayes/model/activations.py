"""Activations of hidden units, by name; for PyTensor, JAX and NumPy.

`leaky_relu(0.3)` is the leaky rectified linear unit with the slope 0.3 below zero, TensorBNN's
(arXiv:2009.14393, table 1). A function of the user may replace a name; its arguments are an
array module and an array.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from math import pi, sqrt
from typing import Any

from nlobayes.untyped import Array, Module

Activation = str | Callable[[Array, Array], Array]
"""The name of an activation, or a function of an array module and an array."""

LEAKY = re.compile(r"(leaky_relu)\((0\.[0-9]*[1-9][0-9]*)\)")
"""A name with the slope below zero, between 0 and 1."""
LEAK = 0.01
"""Slope of `leaky_relu` below zero, where the name states none."""


def elu(xp: Module, x: Array) -> Array:
    """Return x where it is positive, else exp(x) - 1."""
    return xp.maximum(x, 0) + xp.expm1(xp.minimum(x, 0))


def exp(xp: Module, x: Array) -> Array:
    """Return exp(x)."""
    return xp.exp(x)


def gelu(xp: Module, x: Array) -> Array:
    """Return approximately x times the probability that a standard normal is below x.

    The tanh form of Hendrycks and Gimpel (arXiv:1606.08415), section 2.
    """
    return 0.5 * x * (1 + xp.tanh(sqrt(2 / pi) * (x + 0.044715 * x**3)))


def leaky_relu(xp: Module, x: Array, leak: float = LEAK) -> Array:
    """Return x where it is positive, else `leak` times x."""
    return xp.maximum(x, leak * x)


def relu(xp: Module, x: Array) -> Array:
    """Return max(x, 0)."""
    return xp.maximum(x, 0)


def sigmoid(xp: Module, x: Array) -> Array:
    """Return 1 / (1 + exp(-x))."""
    return 0.5 * (1 + xp.tanh(0.5 * x))


def swish(xp: Module, x: Array) -> Array:
    """Return x sigmoid(x)."""
    return x * sigmoid(xp, x)


def tanh(xp: Module, x: Array) -> Array:
    """Return tanh(x)."""
    return xp.tanh(x)


def prelu(xp: Module, x: Array, slopes: Array) -> Array:
    """Return x where it is positive, else its slope times x (He et al., arXiv:1502.01852)."""
    return xp.maximum(x, 0) + slopes * xp.minimum(x, 0)


def square_prelu(xp: Module, x: Array, slopes: Array) -> Array:
    """Return x where it is positive, else its squared slope times x: TensorBNN's PReLU."""
    return prelu(xp, x, slopes * slopes)


PLAIN = {f.__name__: f for f in (elu, exp, gelu, leaky_relu, relu, sigmoid, swish, tanh)}
WITH_SLOPES = {f.__name__: f for f in (prelu, square_prelu)}
"""Activations whose units have a slope each that is trained."""
ACTIVATIONS = tuple(sorted((*PLAIN, *WITH_SLOPES)))


def is_known(name: Any) -> bool:
    """Return whether this is the name of an activation, with its slope or without."""
    return isinstance(name, str) and (name in ACTIVATIONS or LEAKY.fullmatch(name) is not None)


def activate(name: Activation, xp: Module, x: Array, slopes: Array = None) -> Array:
    """Apply the activation of this name to `x` with an array module, with slopes if it has any."""
    if not isinstance(name, str):
        return name(xp, x)
    if name in WITH_SLOPES:
        return WITH_SLOPES[name](xp, x, slopes)
    leaky = LEAKY.fullmatch(name)
    return PLAIN[name](xp, x) if leaky is None else leaky_relu(xp, x, float(leaky[2]))


def has_slopes(activation: object) -> bool:
    """Return whether an activation has slopes that are trained, one for each unit."""
    return isinstance(activation, str) and activation in WITH_SLOPES
