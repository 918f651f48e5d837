"""Random-walk Metropolis: a Gaussian step, accepted or rejected.

Targets pi(q) proportional to exp(logdensity_fn(q)). The proposal N(q, step_size^2 M^-1) is
symmetric, so accepting with probability min(1, pi(q') / pi(q)) leaves pi invariant
(Metropolis et al. 1953). Its best acceptance in many dimensions is 0.234 (Roberts et al. 1997).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

from nlobayes.errors import InputError
from nlobayes.inference.kernel import Info, Kernel, PointState, Posterior, Tuned
from nlobayes.kernels import KernelSettings

if TYPE_CHECKING:
    import jax


class RandomWalkKernel(KernelSettings):
    """Random-walk Metropolis; exact, needs no gradient, slow in many dimensions."""

    warmup: ClassVar[str] = "windows"

    kind: Literal["random_walk"]

    @property
    def gradients_per_draw(self) -> int:
        """One density, counted as a gradient."""
        return 1

    def check_mass_matrix(self, form: str) -> None:
        """Refuse a mass matrix that needs gradients."""
        if form == "low_rank":
            raise InputError("study.low_rank_without_gradients", where="warmup.mass_matrix")

    def build(self, posterior: Posterior) -> Kernel:
        """Build random-walk Metropolis; each step evaluates the density once."""
        import jax
        import jax.numpy as jnp
        from blackjax.mcmc import metrics, random_walk

        transition = random_walk.build_rmh()

        def init(position: jax.Array) -> PointState:
            return PointState(position, posterior.logdensity_fn(position))

        def step(key: jax.Array, state: PointState, tuned: Tuned) -> tuple[PointState, Info]:
            metric = metrics.default_metric(tuned.inverse_mass_matrix)

            def propose(key: jax.Array, position: jax.Array) -> jax.Array:
                momentum = metric.sample_momentum(key, position)
                return position + tuned.step_size * jax.grad(metric.kinetic_energy)(momentum)

            old = random_walk.RWState(*state)
            new, info = transition(key, old, posterior.logdensity_fn, propose)
            return PointState(*new), Info(
                acceptance_rate=info.acceptance_rate,
                energy=jnp.full_like(new.logdensity, jnp.nan),
                is_divergent=jnp.zeros((), bool),
                num_integration_steps=jnp.ones((), int),
                tree_depth=jnp.zeros((), int),
                step_size=tuned.step_size,
            )

        return Kernel(init, step, exact=True)
