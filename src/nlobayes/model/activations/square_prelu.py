"""TensorBNN's PReLU, whose slope is the square of its parameter (arXiv:2009.14393)."""

from typing import Any

from nlobayes.model.activations import prelu

HAS_SLOPES = True


def activate(xp: Any, x: Any, slopes: Any = None) -> Any:
    """Return x where it is positive, else its squared slope times x."""
    return prelu.activate(xp, x, slopes * slopes)
