"""What an approximate method is: a value that draws positions from what it takes for a posterior.

Chains of MCMC need segments, warm-up and checkpoints; they are kernels (`kernel.py`). A method of
this kind needs one job.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, Protocol

import jax
import numpy as np

from nlobayes.inference.curvature import GaussNewton
from nlobayes.inference.kernel import LogDensity
from nlobayes.inference.pretrain import Problem, Rows


class Approached(NamedTuple):
    """What a method starts from.

    Where the output layer is integrated out, an entry is a parameter that is left.

    Attributes
    ----------
    logdensity_fn
        The log density of a position (entry,).
    maps
        The MAPs as whole positions (start, parameter).
    starts
        The same without what was integrated out (start, entry).
    complete
        Whole positions (draw, parameter) of positions (draw, entry): what was integrated out is
        drawn by a key.
    gauss_newton
        Curvature of the negative log density.
    problem
        What pretraining minimises, of positions (entry,).
    train
        The train rows that its likelihood sums over; None where it is no sum over rows.
    hyperparameters
        Places of the entries that are learned by prior and likelihood, and not by the network.
    """

    logdensity_fn: LogDensity
    maps: jax.Array
    starts: jax.Array
    complete: Callable[[jax.Array, jax.Array], jax.Array]
    gauss_newton: GaussNewton
    problem: Problem
    train: Rows | None
    hyperparameters: np.ndarray


class Drawn(NamedTuple):
    """Draws of a method.

    Attributes
    ----------
    positions
        Whole positions (draw, parameter).
    of_starts
        Numbers of each start by name.
    log_density
        Log density (draw,) of what they were drawn from, without what was integrated out; None
        where there is none.
    resample
        How many of the draws are to be chosen by their importance; None where all are kept.
    centres
        Whole positions (draw, parameter) at which the network of each draw is linearised; None
        where draws are of the network itself.
    """

    positions: jax.Array
    of_starts: Mapping[str, Sequence[float]] = {}
    log_density: jax.Array | None = None
    resample: int | None = None
    centres: jax.Array | None = None


class Method(Protocol):
    """An approximate method."""

    def sample(self, key: jax.Array, posterior: Approached) -> Drawn:
        """Draw positions.

        Raises
        ------
        InputError
            If the starts are not those that the settings request.
        """
        ...
