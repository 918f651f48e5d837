"""The leaky rectified linear unit."""

from typing import Any

HAS_SLOPES = False
LEAK = 0.01
"""Slope below zero, where the name states none."""


def activate(xp: Any, x: Any, slopes: Any = None, *, leak: float = LEAK) -> Any:
    """Return x where it is positive, else `leak` times x."""
    return xp.maximum(x, leak * x)
