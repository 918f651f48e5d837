"""Gibbs sampling within Hamiltonian Monte Carlo: some entries are drawn from conditionals.

Targets pi(q) proportional to exp(logdensity_fn(q)) by two kernels in turn. HMC moves all of q
but the `entries` of the conjugates, which stay fixed: it leaves pi given them invariant. Then
`refresh` makes a draw that leaves pi invariant itself and may touch every entry (Neal 1996,
*Bayesian Learning for Neural Networks*, chapter 3: hyperparameters given the weights).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

from nlobayes.errors import InputError
from nlobayes.inference.kernel import Info, Kernel, Posterior, State, Tuned, init_with_gradient
from nlobayes.kernels import KernelSettings
from nlobayes.kernels.hmc import HMCKernel
from nlobayes.settings.values import Jitter, Positive, PositiveInt
from nlobayes.untyped import Tree

if TYPE_CHECKING:
    import jax


class GibbsHMCKernel(KernelSettings):
    """HMC of the weights, then exact draws of the conjugate hyperparameters; exact."""

    warmup: ClassVar[str] = "windows"

    kind: Literal["gibbs_hmc"]
    integration_steps: PositiveInt = 256
    """Leapfrog steps per draw, at fixed hyperparameters."""
    jitter: Jitter = 0.2
    """Relative half-width of the uniform distribution of the number of steps around
    `integration_steps`."""
    divergence_threshold: Positive = 1000.0
    """Energy error above which a draw counts as divergent."""

    @property
    def fixed_integration_steps(self) -> int:
        """Leapfrog steps per draw."""
        return self.integration_steps

    @property
    def gradients_per_draw(self) -> int:
        """One per leapfrog step, and one after the draw of the hyperparameters."""
        return self.integration_steps + 1

    def check_mass_matrix(self, form: str) -> None:
        """Refuse a mass matrix that cannot be restricted to the weights."""
        if form == "low_rank":
            raise InputError("study.low_rank_cut", where="warmup.mass_matrix")

    def build(self, posterior: Posterior) -> Kernel:
        """Build HMC of all entries except those of the conjugates, followed by a draw of these.

        The inverse mass matrix covers all entries; a diagonal or dense one is restricted to those
        that HMC moves.

        Raises InputError if the prior has no conjugate hyperparameters.
        """
        import jax
        import numpy as np

        logdensity_fn, conjugates = posterior.logdensity_fn, posterior.conjugates
        if conjugates is None:
            raise InputError("inference.no_conjugates")
        init = init_with_gradient(logdensity_fn)
        hmc = HMCKernel(kind="hmc", **self.model_dump(exclude={"kind"}))

        def step(key: jax.Array, state: State, tuned: Tuned) -> tuple[State, Info]:
            key_move, key_refresh = jax.random.split(key)
            moving = np.delete(np.arange(state.position.size), conjugates.entries)

            def place(part: jax.Array) -> jax.Array:
                return state.position.at[moving].set(part)

            def conditional(part: jax.Array, inverse_temperature: Tree = 1.0, /) -> jax.Array:
                return logdensity_fn(place(part), inverse_temperature)

            part = State(state.position[moving], state.logdensity, state.logdensity_grad[moving])
            matrix = tuned.inverse_mass_matrix
            cut = tuned._replace(inverse_mass_matrix=matrix[np.ix_(*[moving] * matrix.ndim)])
            moved, info = hmc.build(Posterior(conditional)).step(key_move, part, cut)
            new = init(conjugates.refresh(key_refresh, place(moved.position)))
            return new, info._replace(
                energy=info.energy + moved.logdensity - new.logdensity,
                num_integration_steps=info.num_integration_steps + 1,
            )

        return Kernel(init, step, exact=True)
