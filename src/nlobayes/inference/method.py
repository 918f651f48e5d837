"""What an approximate method takes and gives: it draws positions from an approximation.

MCMC needs segments, warm-up and checkpoints, and has kernels instead (`kernel.py`). An approximate
method needs one job.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from nlobayes.inference.kernel import LogDensity

if TYPE_CHECKING:
    import jax
    import numpy as np

    from nlobayes.inference.curvature import GaussNewton
    from nlobayes.inference.pretrain import Problem, Rows


class MethodInput(NamedTuple):
    """The input of a method.

    If the output layer is integrated out, the entries are the remaining parameters.
    """

    logdensity_fn: LogDensity
    """The log density of a position (entry,)."""
    maps: jax.Array
    """The MAPs as full positions (start, parameter)."""
    starts: jax.Array
    """The same without the parameters that are integrated out (start, entry)."""
    complete: Callable[[jax.Array, jax.Array], jax.Array]
    """Gives full positions (draw, parameter) for positions (draw, entry): a key draws the
    parameters that are integrated out."""
    gauss_newton: GaussNewton
    """Curvature of the negative log density."""
    problem: Problem
    """The problem of pretraining, for positions (entry,)."""
    train: Rows | None
    """The train rows that its likelihood sums over; None if it is not a sum over rows."""
    hyperparameters: np.ndarray
    """Places of the entries that belong to prior and likelihood, and not to the network."""


class MethodDraws(NamedTuple):
    """Draws of a method."""

    positions: jax.Array
    """Full positions (draw, parameter)."""
    of_starts: Mapping[str, Sequence[float]] = {}
    """Numbers of each start by name."""
    log_density: jax.Array | None = None
    """Log density (draw,) of the approximation, without the parameters that are integrated out;
    None if it has none."""
    resample: int | None = None
    """Number of draws to choose by importance resampling; None if all are kept."""
    centres: jax.Array | None = None
    """Full positions (draw, parameter) at which the network of each draw is linearised; None if
    draws use the network itself."""
