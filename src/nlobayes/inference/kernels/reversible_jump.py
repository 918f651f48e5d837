"""Reversible jumps between architectures, and HMC within each.

Targets pi(q) proportional to exp(logdensity_fn(q)) on positions with indicators of what is in use
(`architecture`), by kernels in turn, each of which leaves pi invariant:

- A jump chosen at random proposes a unit or a layer more or less by a bijection of the position,
  accepted by Green's ratio (1995, Biometrika 82, 711), whose factors `jumps.Ratio` names.
- HMC moves all entries but the indicators. Its step size depends on the size of the architecture,
  which it does not change: given that, it is HMC.

An annealed jump moves along tempered densities between its proposal and its acceptance
(Karagiannis and Andrieu 2013, J. Comput. Graph. Stat. 22, 623, algorithm 1).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from nlobayes.inference import annealing
from nlobayes.inference.architecture import Architecture, Units
from nlobayes.inference.jumps import (
    NEAR_IDENTITY,
    Jump,
    Mapped,
    Ratio,
    UnitMap,
    from_prior,
    of_layers,
    of_units,
    output_aware,
    split,
)
from nlobayes.inference.kernel import Info, Kernel, LogDensity, Posterior, State, Tuned
from nlobayes.inference.kernels import hmc

Move = Literal["prior", "conditional", "split", "identity"]


class SizedState(NamedTuple):
    """What the next step needs, and the size of the architecture (size,): 1 at its number."""

    position: jax.Array
    logdensity: jax.Array
    logdensity_grad: jax.Array
    size: jax.Array


class Tried(NamedTuple):
    """A jump that was tried, one of the list of jumps, and what became of it.

    `before` and `proposed` are the numbers of units and layers in use, by name.
    """

    which: jax.Array
    probability: jax.Array
    accepted: jax.Array
    before: dict[str, jax.Array]
    proposed: dict[str, jax.Array]


def build(
    posterior: Posterior,
    *,
    moves: Sequence[Move],
    jumps: int,
    annealing_steps: int,
    annealing_integration_steps: int,
    integration_steps: int,
    jitter: float,
    divergence_threshold: float,
) -> Kernel:
    """Build `jumps` jumps, each by a move chosen at random, followed by one transition of HMC.

    Without an architecture that varies it is HMC alone.
    """
    logdensity_fn, architecture = posterior.logdensity_fn, posterior.architecture
    by_name = {} if architecture is None else jumps_of(architecture, moves, logdensity_fn)
    within = Within(logdensity_fn, architecture, jitter, divergence_threshold)

    def init(position: jax.Array) -> SizedState:
        value, gradient = jax.value_and_grad(logdensity_fn)(position)
        return SizedState(position, value, gradient, within.size(position))

    def step(key: jax.Array, state: SizedState, tuned: Tuned) -> tuple[SizedState, Info]:
        def propose(jump: Jump) -> Callable[..., tuple[jax.Array, Ratio]]:
            if not annealing_steps:
                return lambda key, state: _propose(key, jump, state, logdensity_fn)
            move = within.tempered(tuned, annealing_integration_steps)
            return lambda key, state: _propose_annealed(
                key, jump, state, logdensity_fn, move, annealing_steps
            )

        def jump_once(state: SizedState, key: jax.Array) -> tuple[SizedState, Tried]:
            assert architecture is not None
            proposals = [propose(jump) for jump in by_name.values()]
            return _jump(key, state, init, proposals, architecture.numbers)

        key_jumps, key_move = jax.random.split(key)
        told, spent = dict[str, jax.Array](), 0
        if by_name:
            state, tried = jax.lax.scan(jump_once, state, jax.random.split(key_jumps, jumps))
            told = _account([*by_name], tried)
            spent = jumps * 2 * (1 + annealing_steps * annealing_integration_steps)
        state, info = within.move(key_move, state, tuned, integration_steps)
        return state, info._replace(
            num_integration_steps=info.num_integration_steps + spent,
            extra=told | {"size": jnp.argmax(state.size)},
        )

    return Kernel(init, step, exact=True)


def jumps_of(
    architecture: Architecture, moves: Sequence[Move], logdensity_fn: LogDensity
) -> dict[str, Jump]:
    """Build the jumps that the moves allow, by the names under which their fate is recorded."""
    built: dict[str, Jump] = {}
    maps: dict[str, Callable[[Units], UnitMap]] = {
        "prior": lambda units: from_prior(),
        "conditional": lambda units: output_aware(units, logdensity_fn),
        "split": split,
    }
    scales = {"prior": None, "identity": NEAR_IDENTITY}
    for move in moves:
        for number, units in enumerate(architecture.units if move in maps else (), start=1):
            built[f"{move}_{number}"] = of_units(units, maps[move](units))
        if architecture.layers is not None and move in scales:
            built[f"{move}_layer"] = of_layers(architecture.layers, scales[move])
    return built


class Within(NamedTuple):
    """HMC of all entries but the indicators, with the step size of the architecture."""

    logdensity_fn: LogDensity
    architecture: Architecture | None
    jitter: float
    divergence_threshold: float

    def size(self, position: jax.Array) -> jax.Array:
        """Mark the size of the architecture of a position (parameter,)."""
        if self.architecture is None:
            return jnp.ones(1, position.dtype)
        number, sizes = self.architecture.size(position), self.architecture.sizes
        return jax.nn.one_hot(number, sizes, dtype=position.dtype)

    def move(
        self, key: jax.Array, state: SizedState, tuned: Tuned, integration_steps: int
    ) -> tuple[SizedState, Info]:
        """Make one transition that leaves the target given the architecture invariant."""
        held = np.zeros(0, int) if self.architecture is None else self.architecture.held
        moving = np.delete(np.arange(state.position.size), held)

        def place(part: jax.Array) -> jax.Array:
            return state.position.at[moving].set(part)

        def conditional(part: jax.Array, inverse_temperature: Any = 1.0, /) -> jax.Array:
            return self.logdensity_fn(place(part), inverse_temperature)

        own = Tuned(jnp.sum(tuned.step_size * state.size), tuned.inverse_mass_matrix[moving])
        part = State(state.position[moving], state.logdensity, state.logdensity_grad[moving])
        kernel = hmc.build(
            Posterior(conditional),
            integration_steps=integration_steps,
            jitter=self.jitter,
            divergence_threshold=self.divergence_threshold,
        )
        new, info = kernel.step(key, part, own)
        gradient = state.logdensity_grad.at[moving].set(new.logdensity_grad)
        return SizedState(place(new.position), new.logdensity, gradient, state.size), info

    def tempered(self, tuned: Tuned, integration_steps: int) -> annealing.Move:
        """Build one transition in any other density."""

        def move(key: jax.Array, position: jax.Array, density: LogDensity) -> jax.Array:
            value, gradient = jax.value_and_grad(density)(position)
            state = SizedState(position, value, gradient, self.size(position))
            at = self._replace(logdensity_fn=density)
            return at.move(key, state, tuned, integration_steps)[0].position

        return move


def _propose(
    key: jax.Array, jump: Jump, state: SizedState, logdensity_fn: LogDensity
) -> tuple[jax.Array, Ratio]:
    """Propose a position by a jump, with the ratio that accepts it."""
    chosen = jump.choose(key, state.position)
    new, jacobian = jax.lax.cond(
        chosen.grow, jump.grow, jump.shrink, state.position, chosen.place, chosen.other
    )
    target = logdensity_fn(new) - state.logdensity
    return new, Ratio(target, jacobian, chosen.direction, chosen.choice)


def _propose_annealed(
    key: jax.Array,
    jump: Jump,
    state: SizedState,
    logdensity_fn: LogDensity,
    move: annealing.Move,
    steps: int,
) -> tuple[jax.Array, Ratio]:
    """Do the same at the end of an annealed path, whose weight is that of target and map."""
    key_choose, key_path = jax.random.split(key)
    chosen = jump.choose(key_choose, state.position)

    def shrink(position: jax.Array) -> Mapped:
        return jump.shrink(position, chosen.place, chosen.other)

    begin = jump.grow(state.position, chosen.place, chosen.other)[0]
    begin = jnp.where(chosen.grow, begin, state.position)
    end, weight = annealing.anneal(key_path, begin, chosen.grow, shrink, logdensity_fn, move, steps)
    new = jnp.where(chosen.grow, end, shrink(end)[0])
    return new, Ratio(weight, jnp.zeros_like(weight), chosen.direction, chosen.choice)


def _jump(
    key: jax.Array,
    state: SizedState,
    init: Callable[[jax.Array], SizedState],
    jumps: Sequence[Callable[..., tuple[jax.Array, Ratio]]],
    numbers: Callable[[jax.Array], dict[str, jax.Array]],
) -> tuple[SizedState, Tried]:
    """Jump by one of several, and tell which it was and what became of it."""
    key_which, key_propose, key_accept = jax.random.split(key, 3)
    which = jax.random.randint(key_which, (), 0, len(jumps))
    position, ratio = jax.lax.switch(which, jumps, key_propose, state)
    probability = jnp.nan_to_num(jnp.exp(jnp.minimum(ratio.total(), 0)), nan=0.0)
    accepted = jax.random.uniform(key_accept, ()) < probability
    new = init(jnp.where(accepted, position, state.position))
    kept = jax.tree.map(lambda new, old: jnp.where(accepted, new, old), new, state)
    before, proposed = numbers(state.position), numbers(position)
    return kept, Tried(which, probability, accepted, before, proposed)


def _account(names: Sequence[str], tried: Tried) -> dict[str, jax.Array]:
    """Tell of all jumps of a draw what became of them.

    By name of the jump how often it was tried, and the mean probability of its acceptance; for each
    jump (jump,) that probability, whether it was accepted, and from which numbers to which it was.
    """
    told = {"jump_probability": tried.probability, "jump_accepted": tried.accepted}
    for number, name in enumerate(names):
        chosen = tried.which == number
        count = jnp.sum(chosen)
        told[f"jumps_{name}"] = count
        told[f"jump_acceptance_{name}"] = jnp.sum(jnp.where(chosen, tried.probability, 0)) / count
    for name, before in tried.before.items():
        told |= {f"jump_from_{name}": before, f"jump_to_{name}": tried.proposed[name]}
    return told
