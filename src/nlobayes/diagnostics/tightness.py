"""Tightness of a posterior: rows over the squared likelihood noise; it predicts poor mixing."""

from __future__ import annotations

import numpy as np

from nlobayes.errors import InputError

TIGHT = 5e5
"""Above this tightness chains often stay in different modes.

Chains mixed up to about 4e5 on a target itself, and up to 8e5 on its ratio to a reference.
"""


def tightness(rows: int, relative_noise: float, relative_error: np.ndarray | None = None) -> float:
    """Compute the tightness tau = rows / sigma^2, sigma in units of the target's sd.

    With errors (row,) in the same units, tau is the sum of 1 / (sigma^2 + error^2) over the rows.
    The cost of an effective draw grows with it, and above `TIGHT` chains often stay in different
    modes.

    Raises InputError if rows or noise are not positive.
    """
    if not (rows > 0 and 0 < relative_noise < float("inf")):
        raise InputError("diagnostics.no_tightness", rows=rows, noise=relative_noise)
    if relative_error is None:
        return rows / relative_noise**2
    return float(np.sum(1 / (relative_noise**2 + relative_error**2)))


def describe(tau: float) -> str:
    """Describe how tight a posterior is, with the remedy if it is too tight."""
    text = f"tightness tau = {tau:.3g} (1 / sigma^2 summed over the rows)"
    if tau <= TIGHT:
        return text
    return (
        f"WARNING: {text} is above {TIGHT:.0e}, where chains often stay in different modes; "
        "if they do not converge, raise sigma or use fewer rows"
    )
