"""The no-U-turn sampler: iterative, multinomial.

Targets pi(q) proportional to exp(logdensity_fn(q)). A trajectory is doubled in random directions
until it turns back on itself, and the next state is drawn from it with weights exp(-H)
(Hoffman & Gelman 2014; Betancourt 2017, "A conceptual introduction to HMC").
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from pydantic import Field

from nlobayes.inference.kernel import Info, Kernel, Posterior, State, Tuned, init_with_gradient
from nlobayes.kernels import KernelSettings

if TYPE_CHECKING:
    import jax


class NUTSKernel(KernelSettings):
    """The no-U-turn sampler (iterative, multinomial); exact."""

    warmup: ClassVar[str] = "windows"

    kind: Literal["nuts"]
    max_depth: Annotated[int, Field(ge=1, le=20)] = 9
    """Largest number of doublings: at most 2^max_depth - 1 leapfrog steps."""
    divergence_threshold: Annotated[float, Field(ge=100, allow_inf_nan=False)] = 1000.0
    """Energy error that ends a tree, and above which a draw counts as divergent. It is relative
    to the start of the tree."""

    @property
    def max_tree_depth(self) -> int:
        """Largest number of doublings."""
        return self.max_depth

    @property
    def gradients_per_draw(self) -> int:
        """Gradients of a tree of the largest depth."""
        return 2**self.max_depth

    def build(self, posterior: Posterior) -> Kernel:
        """Build NUTS with at most `max_depth` doublings."""
        from blackjax.mcmc import hmc, nuts

        transition = nuts.build_kernel(divergence_threshold=self.divergence_threshold)

        def step(key: jax.Array, state: State, tuned: Tuned) -> tuple[State, Info]:
            new, info = transition(
                key,
                hmc.HMCState(*state),
                posterior.logdensity_fn,
                *tuned,
                max_num_doublings=self.max_depth,
            )
            return State(*new), Info(
                acceptance_rate=info.acceptance_rate,
                energy=info.energy,
                is_divergent=info.is_divergent,
                num_integration_steps=info.num_integration_steps,
                tree_depth=info.num_trajectory_expansions,
                step_size=tuned.step_size,
            )

        return Kernel(init_with_gradient(posterior.logdensity_fn), step, exact=True)
