"""Random-walk Metropolis: a Gaussian step, accepted or rejected.

Targets pi(q) proportional to exp(logdensity_fn(q)). The proposal N(q, step_size^2 M^-1) is
symmetric, so accepting with probability min(1, pi(q') / pi(q)) leaves pi invariant
(Metropolis et al. 1953). Its best acceptance in many dimensions is 0.234 (Roberts et al. 1997).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
from blackjax.mcmc import metrics, random_walk

from nlobayes.inference.kernel import Info, Kernel, Posterior, Tuned


class WalkState(NamedTuple):
    """Position (parameter,) and its log density; no gradient is needed."""

    position: jax.Array
    logdensity: jax.Array


def build(posterior: Posterior) -> Kernel:
    """Build random-walk Metropolis; each step evaluates the density once."""
    transition = random_walk.build_rmh()

    def init(position: jax.Array) -> WalkState:
        return WalkState(position, posterior.logdensity_fn(position))

    def step(key: jax.Array, state: WalkState, tuned: Tuned) -> tuple[WalkState, Info]:
        new, info = transition(
            key, random_walk.RWState(*state), posterior.logdensity_fn, _propose_with(tuned)
        )
        return WalkState(*new), _describe(info, WalkState(*new), tuned)

    return Kernel(init, step, exact=True)


def _propose_with(tuned: Tuned) -> Callable[[jax.Array, jax.Array], jax.Array]:
    metric = metrics.default_metric(tuned.inverse_mass_matrix)

    def propose(key: jax.Array, position: jax.Array) -> jax.Array:
        momentum = metric.sample_momentum(key, position)
        return position + tuned.step_size * jax.grad(metric.kinetic_energy)(momentum)

    return propose


def _describe(info: random_walk.RWInfo, new: WalkState, tuned: Tuned) -> Info:
    return Info(
        acceptance_rate=info.acceptance_rate,
        energy=jnp.full_like(new.logdensity, jnp.nan),
        is_divergent=jnp.zeros((), bool),
        num_integration_steps=jnp.ones((), int),
        tree_depth=jnp.zeros((), int),
        step_size=tuned.step_size,
    )
