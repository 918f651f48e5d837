"""The exponential."""

from typing import Any

HAS_SLOPES = False


def activate(xp: Any, x: Any, slopes: Any = None) -> Any:
    """Return exp(x)."""
    return xp.exp(x)
