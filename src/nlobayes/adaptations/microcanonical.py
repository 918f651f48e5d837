"""Microcanonical warm-up: tunes preconditioner and step size, then freezes them.

The preconditioner is the diagonal of variances, learned in Stan's windows (as in `windows`). In
units of it the typical set of d parameters has radius sqrt(d), the natural decoherence length
(Robnik, De Luca, Silverstein & Seljak 2023). The step size is tuned by a quantity that grows with
it: the variance of the energy error of an unadjusted kernel, the rejections of an exact one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal, NamedTuple

from nlobayes.adaptations import WarmupSettings
from nlobayes.inference.adaptation import Adaptation, Untuned, independent
from nlobayes.inference.kernel import Info
from nlobayes.kernels.mclmc import TunedMomentum
from nlobayes.settings.values import Fraction, Positive
from nlobayes.untyped import Tree

if TYPE_CHECKING:
    import jax

MEMORY = 100  # steps that the excess is averaged over
LARGEST_EXCESS = 64.0  # the energy variance of a step twice too long, whose sixth power it is
LARGEST_CHANGE = 2.0  # of the step size, in one step
POWER = 3  # of the step size in the excess


class Control(NamedTuple):
    """The step size, its expected mean excess, and the number of steps averaged."""

    step_size: jax.Array
    excess: jax.Array
    steps: jax.Array


class Carry(NamedTuple):
    """State of the warm-up between steps."""

    state: Tree
    tuned: TunedMomentum
    control: Control
    mass_matrix: Tree


class MicrocanonicalWarmup(WarmupSettings):
    """Preconditioner by windows, step size by energy error, for `mclmc` and `adjusted_mclmc`."""

    kind: Literal["microcanonical"] = "microcanonical"
    energy_variance: Positive = 5e-4
    """Target of `mclmc` for the energy variance per dimension and step; its bias falls with it."""
    target_acceptance: Fraction = 0.9
    """Target of `adjusted_mclmc` for the mean acceptance."""
    length_factor: Positive = 1.0
    """Decoherence length in units of the square root of the number of parameters."""

    @property
    def aimed_energy_variance(self) -> float:
        """Target of the energy variance per dimension and step of an unadjusted kernel."""
        return self.energy_variance

    def build(self, untuned: Untuned) -> Adaptation:
        """Build the warm-up of a kernel whose tuned record is `TunedMomentum`.

        The decoherence length is `length_factor` times sqrt(d). An exact kernel is tuned to the
        `target_acceptance`, an unadjusted one to the `energy_variance` per dimension.
        """
        import jax
        import jax.numpy as jnp
        from blackjax.adaptation.metric_recipes import lookup_recipe

        from nlobayes.inference.windows import FROZEN, SLOW, plan

        kernel = untuned.kernel
        schedule = plan(self.steps, adaptation_share=self.adaptation_share, mass_matrix="diagonal")
        stages, window_ends = jnp.asarray(schedule.stage), jnp.asarray(schedule.window_ends)
        variances = lookup_recipe("welford_diag").build_core()
        excess = energy_errors(self.energy_variance)
        if kernel.exact:
            excess = rejections(self.target_acceptance)

        def start(position: jax.Array) -> Carry:
            mass_matrix = variances.init(position.size)
            length = jnp.asarray(self.length_factor * position.size**0.5, position.dtype)
            control = Control(*jnp.asarray([self.initial_step_size, 0, 0], position.dtype))
            tuned = TunedMomentum(control.step_size, mass_matrix.inverse_mass_matrix, length)
            return Carry(kernel.init(position), tuned, control, mass_matrix)

        def learn(carry: Carry, info: Info, is_slow: jax.Array) -> Carry:
            control = follow(carry.control, excess(info))
            mass_matrix = jax.lax.cond(
                is_slow,
                lambda seen: variances.update(seen, carry.state.position, None),
                lambda seen: seen,
                carry.mass_matrix,
            )
            tuned = carry.tuned._replace(step_size=control.step_size)
            return Carry(carry.state, tuned, control, mass_matrix)

        def end_window(carry: Carry) -> Carry:
            mass_matrix = variances.final(carry.mass_matrix)
            before, now = carry.tuned.inverse_mass_matrix, mass_matrix.inverse_mass_matrix
            step_size = carry.tuned.step_size * jnp.exp(jnp.log(before / now).mean() / 2)
            one = jnp.ones_like(step_size)
            tuned = carry.tuned._replace(step_size=step_size, inverse_mass_matrix=now)
            return Carry(carry.state, tuned, Control(step_size, one, one), mass_matrix)

        def step(key: jax.Array, carry: Carry, index: jax.Array) -> tuple[Carry, Info]:
            stage = stages[index]
            state, info = kernel.step(key, carry.state, carry.tuned)
            carry = carry._replace(state=state)
            carry = jax.lax.cond(
                stage == FROZEN,
                lambda carry, info: carry,
                lambda carry, info: learn(carry, info, stage == SLOW),
                carry,
                info,
            )
            return jax.lax.cond(window_ends[index], end_window, lambda same: same, carry), info

        return independent(start, step, lambda carry: (carry.state, carry.tuned))


def energy_errors(energy_variance: float) -> Callable[[Info], jax.Array]:
    """Return the variance of the energy error per dimension as a multiple of its target.

    A divergent step counts as one that was twice too long. Unlike a cap on the step size, its
    effect fades with later steps.
    """
    import jax.numpy as jnp

    def excess(info: Info) -> jax.Array:
        ratio = info.extra["energy_variance"] / energy_variance
        return jnp.where(info.is_divergent, LARGEST_EXCESS, ratio)

    return excess


def rejections(target_acceptance: float) -> Callable[[Info], jax.Array]:
    """Return the rejected share as a multiple of its target."""
    return lambda info: (1 - info.acceptance_rate) / (1 - target_acceptance)


def follow(control: Control, excess: jax.Array) -> Control:
    """Move the step size towards the value at which the mean excess is 1.

    The mean is converted to every new step size by the power law, as in Robnik et al.'s predictor,
    so that the logarithm of the step size moves by -log(1 + (excess - 1) / n) / 3 in the n-th
    step: stochastic approximation, fast at first. Energy variances grow as the sixth power of the
    step size, rejections as the square or cube; the power sets the gain, not the limit.
    """
    import jax.numpy as jnp

    steps = jnp.minimum(control.steps + 1, MEMORY)
    mean = control.excess + (jnp.minimum(excess, LARGEST_EXCESS) - control.excess) / steps
    change = jnp.clip(mean ** (-1 / POWER), 1 / LARGEST_CHANGE, LARGEST_CHANGE)
    return Control(control.step_size * change, mean * change**POWER, steps)
