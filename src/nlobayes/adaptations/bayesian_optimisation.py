"""Bayesian optimisation of step size and number of leapfrog steps, each chain on its own.

Maximises the expected squared jump over sqrt(L), E |q' - q|^2 / sqrt(L), where a rejected
proposal jumps by 0 (Wang, Mohamed & de Freitas 2013, "Adaptive Hamiltonian and Riemann manifold
Monte Carlo"). Its constants are kept: rewards scaled to a largest of 4, a Gaussian covariance of
length 0.2 of each range, the upper confidence bound with delta 0.1, and exploration annealed as
1 / sqrt(evaluations since it began). The candidates are a grid in log step size and log L.

TensorBNN (arXiv:2009.14393) has the same plan, but its code uses the inner product of two
candidates where the covariance needs their squared distance, so that its matrix is no covariance;
multiplies the bonus by the variance, not its root; and continues to adapt while it samples. Here
the tuned pair is frozen: the tried pair with the best posterior mean.

Two additions of TensorBNN are optional: random first candidates, and a restart with both limits of
the step size halved if a chain does not move before exploration is annealed.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated, Literal, NamedTuple

from pydantic import Field, model_validator

from nlobayes.adaptations import WarmupSettings
from nlobayes.errors import InputError
from nlobayes.inference.adaptation import Adaptation, Untuned, independent
from nlobayes.inference.kernel import Info, State
from nlobayes.kernels.tensorbnn import TunedSteps
from nlobayes.settings.values import Positive, PositiveInt

if TYPE_CHECKING:
    import jax

    from nlobayes.inference.rewards import Rewards

OF_CANDIDATE = 2**31
"""Folded into the key of a step for its random candidate; a small number would give a key of the
kernel, because `fold_in(key, 1)` is the second of `split(key)`."""


class Carry(NamedTuple):
    """A chain, the candidate it tries, the best so far, and the rewards.

    `still` counts consecutive rejections, without those of random candidates. `halvings` counts
    the restarts; the last one followed `begun` evaluations.
    """

    state: State
    candidate: jax.Array
    best: jax.Array
    rewards: Rewards
    still: jax.Array
    halvings: jax.Array
    begun: jax.Array


class BayesianOptimisationWarmup(WarmupSettings):
    """Choice of step size and steps by the squared jump over sqrt(L), as in TensorBNN.

    Use 80 evaluations: `steps` of 80 `batch`.
    """

    kind: Literal["bayesian_optimisation"] = "bayesian_optimisation"
    step_size_min: Positive = 1e-4
    """Smallest candidate of the step size."""
    step_size_max: Positive = 0.1
    """Largest candidate of the step size."""
    step_size_points: Annotated[int, Field(ge=2)] = 16
    """Number of candidates, evenly spaced in the logarithm."""
    integration_steps_min: PositiveInt = 16
    """Fewest leapfrog steps."""
    integration_steps_max: PositiveInt = 512
    """Most leapfrog steps."""
    integration_steps_points: Annotated[int, Field(ge=2)] = 8
    """Number of candidates, evenly spaced in the logarithm."""
    batch: PositiveInt = 10
    """Draws that score one candidate."""
    random_candidates: Annotated[int, Field(ge=0, le=10_000)] = 0
    """Number of first candidates that are drawn at random; 20 in TensorBNN."""
    reset_after: PositiveInt | None = None
    """Consecutive rejections after which it restarts with half the step sizes, in the first
    half; 50 in TensorBNN. null: never."""

    @model_validator(mode="after")
    def _has_candidates(self) -> BayesianOptimisationWarmup:
        _check_range("step_size", self.step_size_min, self.step_size_max)
        _check_range("integration_steps", self.integration_steps_min, self.integration_steps_max)
        if self.adapting < self.batch:
            raise InputError(
                "study.no_candidate", steps=self.adapting, batch=self.batch, better=80 * self.batch
            )
        return self

    @property
    def most_learned_steps(self) -> int:
        """Most leapfrog steps among the candidates."""
        return self.integration_steps_max

    def build(self, untuned: Untuned) -> Adaptation:
        """Build the warm-up of the kernel `tensorbnn`; each `batch` draws try one candidate."""
        import jax
        import jax.numpy as jnp
        import numpy as np

        from nlobayes.inference.rewards import Rewards, add_reward, lay_grid

        kernel = untuned.kernel
        batch, evaluations = self.batch, self.adapting // self.batch
        grid = lay_grid(
            (self.step_size_min, self.step_size_max, self.step_size_points),
            (self.integration_steps_min, self.integration_steps_max, self.integration_steps_points),
        )
        step_sizes, integration_steps, covariance = (jnp.asarray(each) for each in grid)
        nearest = int(np.argmin(np.abs(np.log(grid.step_size / self.initial_step_size))))

        def tuned_of(candidate: jax.Array, halvings: jax.Array, position: jax.Array) -> TunedSteps:
            step_size = (step_sizes[candidate] * 0.5**halvings).astype(position.dtype)
            return TunedSteps(step_size, jnp.ones_like(position), integration_steps[candidate])

        def start(position: jax.Array) -> Carry:
            none = jnp.zeros(len(grid.step_size), position.dtype)
            first, zero = jnp.asarray(nearest), jnp.asarray(0)
            rewards = Rewards(none, none, none)
            return Carry(kernel.init(position), first, first, rewards, zero, zero, zero)

        def step(key: jax.Array, carry: Carry, index: jax.Array) -> tuple[Carry, Info]:
            is_adapting = index < evaluations * batch
            candidate = jnp.where(is_adapting, carry.candidate, carry.best)
            tuned = tuned_of(candidate, carry.halvings, carry.state.position)
            state, info = kernel.step(key, carry.state, tuned)
            reward = jnp.sum((state.position - carry.state.position) ** 2)
            reward = reward / jnp.sqrt(tuned.integration_steps) * is_adapting
            counts = is_adapting & (index // batch - carry.begun >= self.random_candidates)
            carry = carry._replace(
                state=state,
                rewards=add_reward(carry.rewards, candidate, reward, is_adapting),
                still=jnp.where((reward > 0) | ~counts, 0, carry.still + 1),
            )
            ends, evaluated = is_adapting & ((index + 1) % batch == 0), (index + 1) // batch
            choose = partial(self._choose, covariance)
            return jax.lax.cond(ends, choose, lambda same, *_: same, carry, evaluated, key), info

        def finish(carry: Carry) -> tuple[State, TunedSteps]:
            return carry.state, tuned_of(carry.best, carry.halvings, carry.state.position)

        return independent(start, step, finish)

    def _choose(
        self, covariance: jax.Array, carry: Carry, evaluated: jax.Array, key: jax.Array
    ) -> Carry:
        """Choose the next candidate by its upper confidence bound, and the best so far.

        `covariance` (candidate, candidate) is that of the rewards, and the chain has evaluated
        `evaluated` candidates. The key may draw the next one at random.
        """
        import jax
        import jax.numpy as jnp

        from nlobayes.inference.rewards import EXPLORING_SHARE, exploration, posterior

        evaluations = self.adapting // self.batch
        if self.reset_after is not None:
            explores = evaluated < EXPLORING_SHARE * evaluations
            carry = _begun_anew(carry, evaluated, explores & (carry.still >= self.reset_after))
        mean, sd = posterior(carry.rewards, covariance)
        since = evaluated - carry.begun
        bound = mean + exploration(since, evaluations - carry.begun) * sd
        best = jnp.argmax(jnp.where(carry.rewards.draws > 0, mean, -jnp.inf))
        candidate = jnp.argmax(bound)
        if self.random_candidates:
            drawn = jax.random.randint(jax.random.fold_in(key, OF_CANDIDATE), (), 0, len(mean))
            candidate = jnp.where(since < self.random_candidates, drawn, candidate)
        return carry._replace(candidate=candidate, best=best)


def _check_range(name: str, least: float, most: float) -> None:
    if least > most:
        raise InputError("study.empty_range", name=name, least=least, most=most)


def _begun_anew(carry: Carry, evaluated: jax.Array, begins: jax.Array) -> Carry:
    """Discard all rewards and halve the step sizes where a chain restarts (`begins`)."""
    import jax
    import jax.numpy as jnp

    zero = jnp.zeros_like(carry.still)
    anew = carry._replace(
        rewards=jax.tree.map(jnp.zeros_like, carry.rewards),
        still=zero,
        halvings=carry.halvings + 1,
        begun=zero + evaluated.astype(zero.dtype),
    )
    return jax.tree.map(lambda new, old: jnp.where(begins, new, old), anew, carry)
