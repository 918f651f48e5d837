"""What an approximate method is: a value that draws positions from what it takes for a posterior.

Chains of MCMC need segments, warm-up and checkpoints; they are kernels (`kernel.py`). A method of
this kind needs one job.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import jax

from nlobayes.inference.kernel import LogDensity


class Approached(NamedTuple):
    """What a method starts from: the log density, and MAPs (start, parameter)."""

    logdensity_fn: LogDensity
    starts: jax.Array


class Method(Protocol):
    """An approximate method."""

    def sample(self, key: jax.Array, posterior: Approached) -> jax.Array:
        """Draw positions (draw, parameter).

        Raises
        ------
        InputError
            If the starts are not those that the settings ask for.
        """
        ...
