"""The no-U-turn sampler: iterative, multinomial.

Targets pi(q) proportional to exp(logdensity_fn(q)). A trajectory is doubled in random directions
until it turns back on itself, and the next state is drawn from it with weights exp(-H)
(Hoffman & Gelman 2014; Betancourt 2017, "A conceptual introduction to HMC").
"""

from __future__ import annotations

import jax
from blackjax.mcmc import hmc, nuts

from nlobayes.inference.kernel import (
    Info,
    Kernel,
    Posterior,
    State,
    Tuned,
    init_with_gradient,
)


def build(posterior: Posterior, *, max_depth: int, divergence_threshold: float) -> Kernel:
    """Build NUTS with at most `max_depth` doublings, 2^max_depth - 1 leapfrog steps."""
    transition = nuts.build_kernel(divergence_threshold=divergence_threshold)

    def step(key: jax.Array, state: State, tuned: Tuned) -> tuple[State, Info]:
        new, info = transition(
            key, hmc.HMCState(*state), posterior.logdensity_fn, *tuned, max_num_doublings=max_depth
        )
        return State(*new), _describe(info, tuned)

    return Kernel(init_with_gradient(posterior.logdensity_fn), step, exact=True)


def _describe(info: nuts.NUTSInfo, tuned: Tuned) -> Info:
    return Info(
        acceptance_rate=info.acceptance_rate,
        energy=info.energy,
        is_divergent=info.is_divergent,
        num_integration_steps=info.num_integration_steps,
        tree_depth=info.num_trajectory_expansions,
        step_size=tuned.step_size,
    )
