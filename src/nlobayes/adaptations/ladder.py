"""The ladder of parallel tempering: step size and mass matrix of every rung, and the spacing.

For each rung, step sizes follow dual averaging (Hoffman & Gelman 2014, section 3.2) and mass
matrices Stan's windows of doubling length. At the end of each window the ladder is spaced anew so
that all neighbours have the same rejection rate: the sum of the mean rejections up to a rung
estimates the communication barrier, and the new rungs cut it into equal parts (Syed,
Bouchard-Cote, Deligiannidis & Doucet 2022, "Non-reversible parallel tempering"). Both ends are
fixed. At the end of adaptation everything is frozen.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from nlobayes.adaptations import WarmupSettings
from nlobayes.inference.adaptation import Adaptation, Untuned, independent
from nlobayes.inference.kernel import Info
from nlobayes.settings.values import Fraction
from nlobayes.untyped import Tree

if TYPE_CHECKING:
    import jax
    from blackjax.adaptation.metric_recipes import MetricCore

    from nlobayes.inference.replicas import LadderState, TunedLadder


class Carry(NamedTuple):
    """State of the warm-up between steps; `rejection` sums over the steps of a window."""

    state: LadderState
    tuned: TunedLadder
    step_size: Tree
    mass_matrix: Tree
    rejection: jax.Array


class LadderWarmup(WarmupSettings):
    """Step size, mass matrix and temperature of every rung of a ladder, for `tempering`.

    Temperatures have equal rejection rates. The sample stat `restart` counts replicas that came all
    the way from the hottest rung.
    """

    kind: Literal["ladder"] = "ladder"
    target_acceptance: Fraction = 0.7
    """Target of the mean acceptance of HMC on every rung."""

    def build(self, untuned: Untuned) -> Adaptation:
        """Build the warm-up of a tempering kernel, from the ladder of its first state."""
        import jax
        import jax.numpy as jnp
        from blackjax.adaptation.metric_recipes import lookup_recipe

        from nlobayes.inference.replicas import TunedLadder
        from nlobayes.inference.windows import FROZEN, plan, search_from

        kernel = untuned.kernel
        schedule = plan(self.steps, adaptation_share=self.adaptation_share, mass_matrix="diagonal")
        core = lookup_recipe("welford_diag").build_core()
        update = _updates(core, self.target_acceptance)
        stages, window_ends = jnp.asarray(schedule.stage), jnp.asarray(schedule.window_ends)

        def start(position: jax.Array) -> Carry:
            state = kernel.init(position)
            ladder = state.inverse_temperatures
            masses = jax.vmap(lambda _: core.init(position.size))(ladder)
            step_size = jnp.full_like(ladder, self.initial_step_size)
            tuned = TunedLadder(step_size, masses.inverse_mass_matrix, ladder)
            none = jnp.zeros_like(state.swap_acceptance)
            return Carry(state, tuned, jax.vmap(search_from)(step_size), masses, none)

        def step(key: jax.Array, carry: Carry, index: jax.Array) -> tuple[Carry, Info]:
            stage = stages[index]
            carry = jax.lax.cond(stage == FROZEN, _freeze, lambda same: same, carry)
            state, info = kernel.step(key, carry.state, carry.tuned)
            return update(carry._replace(state=state), info, stage, window_ends[index]), info

        return independent(start, step, lambda carry: (carry.state, _freeze(carry).tuned))


def _freeze(carry: Carry) -> Carry:
    """Take the averaged step sizes; a second call changes nothing."""
    from blackjax.adaptation.step_size import dual_averaging_adaptation

    _, _, final_step = dual_averaging_adaptation(0.5)
    step_size = final_step(carry.step_size).astype(carry.tuned.step_size.dtype)
    return carry._replace(tuned=carry.tuned._replace(step_size=step_size))


def _updates(core: MetricCore, target_acceptance: float) -> Tree:
    """Build the update of the carry after one step of each stage."""
    import jax
    import jax.numpy as jnp
    from blackjax.adaptation.step_size import dual_averaging_adaptation

    from nlobayes.inference.replicas import TunedLadder, move_to, respace
    from nlobayes.inference.windows import FROZEN, SLOW, search_from

    _, update_step, final_step = dual_averaging_adaptation(target_acceptance)

    def adapt(carry: Carry, info: Info) -> Carry:
        step_size = jax.vmap(update_step)(carry.step_size, info.extra["rung_acceptance"])
        return _use(carry._replace(step_size=step_size))

    def collect(carry: Carry, info: Info) -> Carry:
        return carry._replace(
            mass_matrix=jax.vmap(core.update)(carry.mass_matrix, carry.state.positions),
            rejection=carry.rejection + 1 - info.extra["swap_acceptance"],
        )

    def end_window(carry: Carry) -> Carry:
        masses = jax.vmap(core.final)(carry.mass_matrix)
        old = carry.tuned.inverse_temperatures
        new = respace(old, carry.rejection)
        step_size = jax.vmap(search_from)(move_to(final_step(carry.step_size), old, new))
        masses = masses._replace(inverse_mass_matrix=move_to(masses.inverse_mass_matrix, old, new))
        tuned = TunedLadder(carry.tuned.step_size, masses.inverse_mass_matrix, new)
        none = jnp.zeros_like(carry.rejection)
        return _use(Carry(carry.state, tuned, step_size, masses, none))

    def update(carry: Carry, info: Info, stage: Tree, window_ends: Tree) -> Carry:
        carry = jax.lax.cond(stage == SLOW, collect, lambda same, _: same, carry, info)
        carry = jax.lax.cond(stage == FROZEN, lambda same, _: same, adapt, carry, info)
        return jax.lax.cond(window_ends, end_window, lambda same: same, carry)

    return update


def _use(carry: Carry) -> Carry:
    import jax.numpy as jnp

    step_size = jnp.exp(carry.step_size.log_step_size).astype(carry.tuned.step_size.dtype)
    return carry._replace(tuned=carry.tuned._replace(step_size=step_size))
