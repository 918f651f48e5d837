"""ChEES: a group of chains learns one step size and one trajectory length, then both are frozen.

The length climbs the expected squared change, over one step, of the squared distance from the
mean of the chains, by ADAM on its logarithm; the step size follows the harmonic mean of the
acceptance over chains by dual averaging; both are frozen at their averages
(Hoffman, Radul & Sountsov 2021, "An adaptive-MCMC scheme for setting trajectory lengths in HMC").
The mass matrix is the identity, as in the paper. BlackJAX 1.7 has this scheme too, but updates
the average of the lengths and not the last one, so that n steps move the logarithm by no more than
2 sqrt(n) learning rates; therefore the update is implemented here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal, NamedTuple

from pydantic import Field

from nlobayes.adaptations import WarmupSettings
from nlobayes.errors import InputError
from nlobayes.inference.adaptation import Adaptation, Untuned
from nlobayes.inference.kernel import Info
from nlobayes.kernels.chees import FEWEST_CHAINS, TrajectoryState, TunedTrajectory, jitter_of
from nlobayes.settings.values import Fraction, Positive
from nlobayes.untyped import Tree

if TYPE_CHECKING:
    import jax

AVERAGING_DECAY = 0.5
ADAM = {"b1": 0.0, "b2": 0.95}


class Length(NamedTuple):
    """The logarithm of the trajectory length: last, average, ADAM's moments, updates made."""

    log_length: jax.Array
    average: jax.Array
    moments: Tree
    updates: jax.Array


class Carry(NamedTuple):
    """The states (chain,) of a chain group, and the step size and length it learns together."""

    state: TrajectoryState
    step_size: Tree
    length: Length


class ChEESWarmup(WarmupSettings):
    """Step size and trajectory length learned by all chains together, mass matrix the identity."""

    kind: Literal["chees"] = "chees"
    target_acceptance: Fraction = 0.651
    """Target of dual averaging for the harmonic mean of the acceptance."""
    learning_rate: Annotated[float, Field(gt=0, le=0.05)] = 0.025
    """Learning rate of ADAM for the logarithm of the trajectory length."""
    initial_trajectory_length: Positive = 0.1
    """Initial trajectory length."""

    def build(self, untuned: Untuned) -> Adaptation:
        """Build the warm-up of a group of chains with the kernel `chees`.

        The mean length stays below half of the kernel's `most_integration_steps`, so that the
        jittered length stays below that limit.
        """
        import jax
        import jax.numpy as jnp
        import optax
        from blackjax.adaptation.step_size import dual_averaging_adaptation

        from nlobayes.inference.chain_groups import each_chain

        kernel = untuned.kernel
        adapting = self.adapting
        most_steps = max(1.0, untuned.settings.most_integration_steps / 2)
        init_step, update_step, _ = dual_averaging_adaptation(self.target_acceptance)
        optimiser = optax.adam(self.learning_rate, **ADAM)

        def start(positions: jax.Array) -> Carry:
            _require_chains(len(positions))
            step_size = init_step(jnp.asarray(self.initial_step_size, positions.dtype))
            step_size = step_size._replace(log_step_size_avg=step_size.log_step_size)
            length = jnp.log(jnp.asarray(self.initial_trajectory_length, positions.dtype))
            moments, updates = optimiser.init(length), jnp.zeros((), int)
            learned = Length(length, length, moments, updates)
            return Carry(each_chain(kernel.init)(positions), step_size, learned)

        def step(keys: jax.Array, carry: Carry, index: jax.Array) -> tuple[Carry, Info]:
            is_adapting = index < adapting
            tuned = jax.lax.cond(is_adapting, running, frozen, carry)
            state, info = each_chain(kernel.step)(keys, carry.state, tuned)
            new = carry._replace(state=state)
            return jax.lax.cond(is_adapting, learn, lambda _, new, *__: new, carry, new, info), info

        def learn(old: Carry, new: Carry, info: Info) -> Carry:
            weights = jnp.where(info.is_divergent, 0, info.acceptance_rate)
            step_size = update_step(new.step_size, 1 / jnp.mean(1 / weights))
            length = running(old).trajectory_length[0]
            change, moments = optimiser.update(
                -length * slope(old.state, new.state, weights), new.length.moments
            )
            log_length, updates = jnp.log(length) + change, new.length.updates + 1
            average = new.length.average
            average += updates**-AVERAGING_DECAY * (log_length - average)
            return new._replace(
                step_size=step_size, length=Length(log_length, average, moments, updates)
            )

        def running(carry: Carry) -> TunedTrajectory:
            step_size = jnp.exp(carry.step_size.log_step_size)
            return _tuned(carry, step_size, jnp.exp(carry.length.log_length), most_steps)

        def frozen(carry: Carry) -> TunedTrajectory:
            step_size = jnp.exp(carry.step_size.log_step_size_avg)
            return _tuned(carry, step_size, jnp.exp(carry.length.average), most_steps)

        return Adaptation(start, step, lambda carry: (carry.state, frozen(carry)))


def _tuned(
    carry: Carry, step_size: jax.Array, length: jax.Array, most_steps: float
) -> TunedTrajectory:
    """Give every chain the step size and the length, one to `most_steps` steps long."""
    import jax.numpy as jnp

    position = carry.state.position
    length = jnp.clip(length, step_size, most_steps * step_size)
    every_chain = jnp.ones_like(position[:, 0])
    return TunedTrajectory(step_size * every_chain, jnp.ones_like(position), length * every_chain)


def slope(old: TrajectoryState, new: TrajectoryState, weights: jax.Array) -> jax.Array:
    """Estimate the derivative of the criterion by the mean trajectory length.

    The criterion is E[(|q' - E q'|^2 - |q - E q|^2)^2] / 4, with the proposals q' of trajectories
    as long as jitter times the mean length, and q' moves along it with velocity p'. Chains count
    by their `weights` (chain,), the acceptance of each proposal.
    """
    import jax.numpy as jnp

    total = jnp.maximum(jnp.sum(weights), jnp.finfo(weights.dtype).tiny)
    before = old.position - jnp.mean(old.position, axis=0)
    after = new.proposal - weights @ new.proposal / total
    change = jnp.sum(after**2, axis=1) - jnp.sum(before**2, axis=1)
    moving_out = jnp.sum(after * new.proposal_momentum, axis=1)
    return jitter_of(old.steps_made[0]) * jnp.sum(weights * change * moving_out) / total


def _require_chains(chains: int) -> None:
    if chains < FEWEST_CHAINS:
        raise InputError("inference.few_chains_for_chees", chains=chains, fewest=FEWEST_CHAINS)
