"""Independent proposals from a Student-t at the mode and local steps in turn.

Targets pi(q) proportional to exp(logdensity_fn(q)) by two kernels, each of which leaves pi
invariant. An independent proposal q' does not depend on the position: it is accepted with
probability min(1, w(q') / w(q)), w the ratio of pi to the density of the proposals (Tierney 1994,
Ann. Stat. 22, 1701, "independence chains"). Where w is large a chain would stand still. A local
step, random-walk Metropolis along the axes of the Student-t, moves it on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

from nlobayes.inference.kernel import Info, Kernel, PointState, Posterior
from nlobayes.kernels import KernelSettings
from nlobayes.settings.values import PositiveInt

if TYPE_CHECKING:
    import jax

    from nlobayes.inference.proposals import StudentT


LOCAL = 2.4
"""Length of a local step, in axes over the root of their number (Roberts et al. 1997)."""


class IndependenceKernel(KernelSettings):
    """Proposals from a Student-t at the mode, and local steps; exact, and each needs one density.

    For posteriors of few parameters that are nearly Gaussian, such as the scales of an infinitely
    wide network: half of the proposals are accepted, and each is independent of the last draw.
    """

    warmup: ClassVar[str] = "mode"

    kind: Literal["independence"]
    proposals: PositiveInt = 1
    """Independent proposals per draw, each followed by a local one."""

    @property
    def gradients_per_draw(self) -> int:
        """Two densities per proposal, each counted as a gradient."""
        return 2 * self.proposals

    def build(self, posterior: Posterior) -> Kernel:
        """Build `proposals` proposals, each accepted or rejected."""
        import jax
        import jax.numpy as jnp

        from nlobayes.inference.proposals import log_density, sample

        logdensity_fn = posterior.logdensity_fn

        def init(position: jax.Array) -> PointState:
            return PointState(position, logdensity_fn(position))

        def accept(
            key: jax.Array, state: PointState, new: PointState, ratio: jax.Array
        ) -> tuple[PointState, jax.Array]:
            rate = jnp.exp(jnp.minimum(ratio, 0.0))
            rate = jnp.where(jnp.isfinite(new.logdensity), rate, 0.0)
            accepted = jax.random.uniform(key, (), rate.dtype) < rate
            return jax.tree.map(lambda a, b: jnp.where(accepted, a, b), new, state), rate

        def propose(
            state: PointState, key: jax.Array, tuned: StudentT
        ) -> tuple[PointState, jax.Array]:
            keys = jax.random.split(key, 4)
            new = init(sample(keys[0], tuned))
            weight, old_weight = (
                one.logdensity - log_density(one.position, tuned) for one in (new, state)
            )
            state, rate = accept(keys[1], state, new, weight - old_weight)
            normal = jax.random.normal(keys[2], state.position.shape, state.position.dtype)
            near = init(state.position + LOCAL / state.position.size**0.5 * (tuned.axes @ normal))
            state, _ = accept(keys[3], state, near, near.logdensity - state.logdensity)
            return state, rate

        def step(key: jax.Array, state: PointState, tuned: StudentT) -> tuple[PointState, Info]:
            keys = jax.random.split(key, self.proposals)
            state, rates = jax.lax.scan(lambda now, one: propose(now, one, tuned), state, keys)
            return state, Info(
                acceptance_rate=jnp.mean(rates),
                energy=jnp.full_like(state.logdensity, jnp.nan),
                is_divergent=jnp.zeros((), bool),
                num_integration_steps=jnp.asarray(2 * self.proposals, int),
                tree_depth=jnp.zeros((), int),
                step_size=tuned.step_size,
            )

        return Kernel(init, step, exact=True)
