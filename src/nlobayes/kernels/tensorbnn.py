"""HMC whose step size and number of leapfrog steps are both learned: the sampler of TensorBNN.

Targets pi(q) proportional to exp(logdensity_fn(q)); one step is HMC with the values that warm-up
froze. TensorBNN (Kronheim, Kuchera & Prosper 2020, arXiv:2009.14393) continues to adapt both while
it samples, by rewards from the chain's past. The step then depends on earlier states, and the
Metropolis test, which balances a fixed step against its reverse, no longer leaves pi invariant.
Here both are frozen before the first draw, so the kernel is exact.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal, NamedTuple

from nlobayes.inference.kernel import Info, Kernel, Posterior, State, init_with_gradient
from nlobayes.kernels import KernelSettings
from nlobayes.kernels.hmc import build_transition
from nlobayes.settings.values import Positive
from nlobayes.untyped import Tree

if TYPE_CHECKING:
    import jax


class TunedSteps(NamedTuple):
    """Step size, inverse mass matrix and number of leapfrog steps."""

    step_size: jax.Array
    inverse_mass_matrix: Tree
    integration_steps: jax.Array


class TensorBNNKernel(KernelSettings):
    """HMC whose step size and number of steps are learned by Bayesian optimisation; exact."""

    warmup: ClassVar[str] = "bayesian_optimisation"

    kind: Literal["tensorbnn"]
    divergence_threshold: Positive = 1000.0
    """Energy error above which a draw counts as divergent."""

    @property
    def gradients_per_draw(self) -> int:
        """One per leapfrog step, whose number warm-up learns."""
        return 1

    def build(self, posterior: Posterior) -> Kernel:
        """Build HMC with the tuned number of leapfrog steps."""
        transition = build_transition(posterior.logdensity_fn, self.divergence_threshold)

        def step(key: jax.Array, state: State, tuned: TunedSteps) -> tuple[State, Info]:
            return transition(key, state, tuned, tuned.integration_steps)

        return Kernel(init_with_gradient(posterior.logdensity_fn), step, exact=True)
