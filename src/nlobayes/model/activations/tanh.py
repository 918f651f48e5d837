"""The hyperbolic tangent."""

from typing import Any

HAS_SLOPES = False


def activate(xp: Any, x: Any, slopes: Any = None) -> Any:
    """Return tanh(x)."""
    return xp.tanh(x)
