"""Activations of hidden units, for PyTensor, JAX and NumPy.

Each takes the array module, what enters, and the trained slopes, which two of them have.
"""

from __future__ import annotations

from collections.abc import Callable
from math import pi, sqrt
from typing import Any

LEAK = 0.01


def _tanh(xp: Any, x: Any, slopes: Any = None) -> Any:
    return xp.tanh(x)


def _sigmoid(xp: Any, x: Any, slopes: Any = None) -> Any:
    return 0.5 * (1 + xp.tanh(0.5 * x))


def _exp(xp: Any, x: Any, slopes: Any = None) -> Any:
    return xp.exp(x)


def _relu(xp: Any, x: Any, slopes: Any = None) -> Any:
    return xp.maximum(x, 0)


def _leaky_relu(xp: Any, x: Any, slopes: Any = None) -> Any:
    return xp.maximum(x, LEAK * x)


def _elu(xp: Any, x: Any, slopes: Any = None) -> Any:
    return xp.maximum(x, 0) + xp.expm1(xp.minimum(x, 0))


def _gelu(xp: Any, x: Any, slopes: Any = None) -> Any:
    return 0.5 * x * (1 + xp.tanh(sqrt(2 / pi) * (x + 0.044715 * x**3)))


def _swish(xp: Any, x: Any, slopes: Any = None) -> Any:
    return x * _sigmoid(xp, x)


def _prelu(xp: Any, x: Any, slopes: Any = None) -> Any:
    return xp.maximum(x, 0) + slopes * xp.minimum(x, 0)


def _square_prelu(xp: Any, x: Any, slopes: Any = None) -> Any:
    return _prelu(xp, x, slopes * slopes)


ACTIVATIONS: dict[str, Callable[..., Any]] = {
    "tanh": _tanh,
    "sigmoid": _sigmoid,
    "exp": _exp,
    "relu": _relu,
    "leaky_relu": _leaky_relu,
    "elu": _elu,
    "gelu": _gelu,
    "swish": _swish,
    "prelu": _prelu,
    "square_prelu": _square_prelu,
}
"""`gelu` in the tanh form of Hendrycks and Gimpel (arXiv:1606.08415), section 2; `prelu` of He et
al. (arXiv:1502.01852), one slope per unit; `square_prelu` of TensorBNN (arXiv:2009.14393), whose
slope is the square of its parameter."""


def has_slopes(activation: str) -> bool:
    """Tell whether an activation has slopes that are trained, one for each unit."""
    return activation in {"prelu", "square_prelu"}
