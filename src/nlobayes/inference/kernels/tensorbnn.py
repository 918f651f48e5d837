"""HMC whose step size and number of leapfrog steps are both learned: the sampler of TensorBNN.

Targets pi(q) proportional to exp(logdensity_fn(q)); one step is HMC with the values that warm-up
froze. TensorBNN (Kronheim, Kuchera & Prosper 2020, arXiv:2009.14393) continues to adapt both while
it samples, by rewards from the chain's past. The step then depends on earlier states, and the
Metropolis test, which balances a fixed step against its reverse, no longer leaves pi invariant.
Here both are frozen before the first draw, so the kernel is exact.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax

from nlobayes.inference.kernel import (
    Info,
    Kernel,
    Posterior,
    State,
    init_with_gradient,
)
from nlobayes.inference.kernels.hmc import build_transition


class TunedSteps(NamedTuple):
    """Step size, inverse mass matrix and number of leapfrog steps."""

    step_size: jax.Array
    inverse_mass_matrix: Any
    integration_steps: jax.Array


def build(posterior: Posterior, *, divergence_threshold: float) -> Kernel:
    """Build HMC with the tuned number of leapfrog steps."""
    transition = build_transition(posterior.logdensity_fn, divergence_threshold)

    def step(key: jax.Array, state: State, tuned: TunedSteps) -> tuple[State, Info]:
        return transition(key, state, tuned, tuned.integration_steps)

    return Kernel(init_with_gradient(posterior.logdensity_fn), step, exact=True)
