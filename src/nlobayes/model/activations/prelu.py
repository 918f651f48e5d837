"""The rectified linear unit with a trained slope (He et al., arXiv:1502.01852)."""

from typing import Any

HAS_SLOPES = True


def activate(xp: Any, x: Any, slopes: Any = None) -> Any:
    """Return x where it is positive, else its slope times x."""
    return xp.maximum(x, 0) + slopes * xp.minimum(x, 0)
