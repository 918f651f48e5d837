"""Every activation of one unit, by its definition."""

from collections.abc import Callable
from math import exp, inf, pi, sqrt, tanh

from scipy.special import expit


def _exp(x: float) -> float:
    return exp(x) if x < 709 else inf


BY_HAND: dict[str, Callable[[float, float], float]] = {
    "tanh": lambda x, slope: 2 * expit(2 * x) - 1,
    "sigmoid": lambda x, slope: expit(x),
    "exp": lambda x, slope: _exp(x),
    "relu": lambda x, slope: x if x > 0 else 0.0,
    "leaky_relu": lambda x, slope: x if x > 0 else 0.01 * x,
    "leaky_relu(0.3)": lambda x, slope: x if x > 0 else 0.3 * x,
    "elu": lambda x, slope: x if x > 0 else exp(x) - 1,
    "gelu": lambda x, slope: x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x * x * x))),
    "swish": lambda x, slope: x * expit(x),
    "prelu": lambda x, slope: x if x > 0 else slope * x,
    "square_prelu": lambda x, slope: x if x > 0 else slope**2 * x,
}
SLOPE_FAR_OUT = {
    "tanh": (0.0, 0.0),
    "sigmoid": (0.0, 0.0),
    "exp": (0.0, inf),
    "relu": (0.0, 1.0),
    "leaky_relu": (0.01, 1.0),
    "leaky_relu(0.3)": (0.3, 1.0),
    "elu": (0.0, 1.0),
    "gelu": (0.0, 1.0),
    "swish": (0.0, 1.0),
    "prelu": (-0.3, 1.0),
    "square_prelu": (0.09, 1.0),
}
"""Derivatives at -1000 and 1000, for a trained slope of -0.3."""
