"""The exponential."""

from typing import Any

HAS_SLOPES = False


def activate(xp: Any, x: Any, slopes: Any = None) -> Any:
    """Give exp(x)."""
    return xp.exp(x)
