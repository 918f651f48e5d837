"""Location of divergences: the inputs where predictions of divergent draws differ most."""

from typing import NamedTuple

import numpy as np

from nlobayes.diagnostics.convergence import checked
from nlobayes.errors import InputError


class Deviation(NamedTuple):
    """Mean distance |f - mean| / sd of the prediction from its posterior mean (reference_point,).

    `deviation` is over the divergent draws, `expected` over the others (0.8 for a Gaussian); each
    is None if there is no such draw, and zero at a point whose prediction never varies.
    """

    deviation: np.ndarray | None
    expected: np.ndarray | None


def located(function: np.ndarray, diverging: np.ndarray) -> Deviation:
    """Compare predictions at divergent draws with those at all others.

    The draw of a divergent transition is its end point; for kernels that reject, its start. It is
    on the edge of the region that the integrator cannot enter.

    Raises InputError if the axes do not fit, draws are too few or not finite.

    Parameters
    ----------
    function
        Predictions, axes (chain, draw, reference_point).
    diverging
        Whether the transition to each draw diverged, axes (chain, draw).
    """
    function, diverging = checked(function, fewest_chains=1), np.asarray(diverging, dtype=bool)
    if diverging.shape != function.shape[:2]:
        raise InputError(
            "diagnostics.divergences_shape", expected=function.shape[:2], shape=diverging.shape
        )
    centred = np.abs(function - function.mean(axis=(0, 1)))
    sd = np.where(np.ptp(function, axis=(0, 1)) > 0, function.std(axis=(0, 1)), np.inf)
    return Deviation(_mean(centred[diverging] / sd), _mean(centred[~diverging] / sd))


def _mean(distance: np.ndarray) -> np.ndarray | None:
    return distance.mean(axis=0) if len(distance) else None
