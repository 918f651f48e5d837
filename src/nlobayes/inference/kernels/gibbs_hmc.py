"""Gibbs sampling within Hamiltonian Monte Carlo: some entries are drawn from conditionals.

Targets pi(q) proportional to exp(logdensity_fn(q)) by two kernels in turn. HMC moves all of q
but the `entries` of the conjugates, which stay fixed: it leaves pi given them invariant. Then
`refresh` makes a draw that leaves pi invariant itself and may touch every entry (Neal 1996,
*Bayesian Learning for Neural Networks*, chapter 3: hyperparameters given the weights).
"""

from __future__ import annotations

from typing import Any

import jax
import numpy as np

from nlobayes.errors import InputError
from nlobayes.inference.kernel import (
    Conjugates,
    Info,
    Kernel,
    Posterior,
    State,
    Tuned,
    init_with_gradient,
)
from nlobayes.inference.kernels import hmc


def build(
    posterior: Posterior,
    *,
    integration_steps: int,
    jitter: float,
    divergence_threshold: float,
) -> Kernel:
    """Build HMC of all entries except those of the conjugates, followed by a draw of these.

    The inverse mass matrix covers all entries; a diagonal or dense one is restricted to those that
    HMC moves.

    Raises
    ------
    InputError
        If the prior has no conjugate hyperparameters.
    """
    logdensity_fn, conjugates = posterior.logdensity_fn, _conjugates_of(posterior)
    init = init_with_gradient(logdensity_fn)
    settings: dict[str, Any] = {
        "integration_steps": integration_steps,
        "jitter": jitter,
        "divergence_threshold": divergence_threshold,
    }

    def step(key: jax.Array, state: State, tuned: Tuned) -> tuple[State, Info]:
        key_move, key_refresh = jax.random.split(key)
        moving = np.delete(np.arange(state.position.size), conjugates.entries)

        def place(part: jax.Array) -> jax.Array:
            return state.position.at[moving].set(part)

        def conditional(part: jax.Array, inverse_temperature: Any = 1.0, /) -> jax.Array:
            return logdensity_fn(place(part), inverse_temperature)

        part = State(state.position[moving], state.logdensity, state.logdensity_grad[moving])
        move = hmc.build(Posterior(conditional), **settings).step
        moved, info = move(key_move, part, _cut(tuned, moving))
        new = init(conjugates.refresh(key_refresh, place(moved.position)))
        return new, _describe(info, moved, new)

    return Kernel(init, step, exact=True)


def _conjugates_of(posterior: Posterior) -> Conjugates:
    if posterior.conjugates is None:
        raise InputError("inference.no_conjugates")
    return posterior.conjugates


def _cut(tuned: Tuned, moving: np.ndarray) -> Tuned:
    """Take the rows and columns of the entries that move."""
    matrix = tuned.inverse_mass_matrix
    return tuned._replace(inverse_mass_matrix=matrix[np.ix_(*[moving] * matrix.ndim)])


def _describe(info: Info, moved: State, new: State) -> Info:
    """Count the gradient after the refresh, and use its log density in the energy."""
    return info._replace(
        energy=info.energy + moved.logdensity - new.logdensity,
        num_integration_steps=info.num_integration_steps + 1,
    )
