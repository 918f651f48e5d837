"""The Gaussian error linear unit, in the tanh form.

Hendrycks and Gimpel (arXiv:1606.08415), section 2.
"""

from math import pi, sqrt
from typing import Any

HAS_SLOPES = False


def activate(xp: Any, x: Any, slopes: Any = None) -> Any:
    """Return approximately x times the probability that a standard normal is below x."""
    return 0.5 * x * (1 + xp.tanh(sqrt(2 / pi) * (x + 0.044715 * x**3)))
