"""Activations of hidden units, one file each, by name; for PyTensor, JAX and NumPy."""

from typing import Any, Protocol

from nlobayes.families import Family


class Activation(Protocol):
    """What the file of an activation says."""

    HAS_SLOPES: bool
    """Whether each unit has a slope that is trained."""

    def activate(self, xp: Any, x: Any, slopes: Any = None) -> Any:
        """Give the activation of `x` by an array module, with its slopes where it has any."""
        ...


ACTIVATIONS: Family[Activation] = Family(__name__, __file__)


def has_slopes(activation: str) -> bool:
    """Tell whether an activation has slopes that are trained, one for each unit."""
    return activation in ACTIVATIONS and ACTIVATIONS[activation].HAS_SLOPES
