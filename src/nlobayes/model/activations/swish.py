"""The sigmoid-weighted linear unit."""

from typing import Any

from nlobayes.model.activations import sigmoid

HAS_SLOPES = False


def activate(xp: Any, x: Any, slopes: Any = None) -> Any:
    """Return x sigmoid(x)."""
    return x * sigmoid.activate(xp, x)
