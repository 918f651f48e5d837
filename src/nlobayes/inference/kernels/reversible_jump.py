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
from functools import partial
from typing import Any, Literal, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from blackjax.mcmc.metrics import gaussian_euclidean

from nlobayes.inference import annealing
from nlobayes.inference.architecture import Architecture, Arrays, Layers, Units
from nlobayes.inference.bijections import near_identity, output_aware, refitted, split, unchanged
from nlobayes.inference.jumps import Jump, Map, Mapped, Ratio, of_layers, of_units
from nlobayes.inference.kernel import Info, Kernel, LogDensity, Posterior, State, Tuned
from nlobayes.inference.kernels import hmc

Move = Literal["prior", "conditional", "split", "identity"]
SCALED = ("split", "identity")
"""Moves whose scale is learned."""


Propose = Callable[[Jump, jax.Array, jax.Array, jax.Array], tuple[jax.Array, Ratio]]
"""Of a jump, a key, a position and a scale: a position, and the ratio that accepts it."""


class SizedState(NamedTuple):
    """What the next step needs, and what the one before did.

    Attributes
    ----------
    size
        The size of the architecture (size,): 1 at its number, else 0.
    tried
        How often the step tried each jump, and the sum of its acceptance probabilities (jump, 2).
    """

    position: jax.Array
    logdensity: jax.Array
    logdensity_grad: jax.Array
    size: jax.Array
    tried: jax.Array


class TunedSizes(NamedTuple):
    """A step size for each size (size,), and the scale of each jump (jump,), which few have."""

    step_size: jax.Array
    inverse_mass_matrix: jax.Array
    scales: jax.Array


class Tried(NamedTuple):
    """A jump that was tried, one of the list of jumps, and what became of it.

    `before` and `proposed` are the numbers of units and layers in use, by name.
    """

    which: jax.Array
    probability: jax.Array
    accepted: jax.Array
    before: dict[str, jax.Array]
    proposed: dict[str, jax.Array]

    def account(self, kinds: int) -> jax.Array:
        """Count the jumps (jump,) of each kind, and sum their probabilities (kind, 2)."""
        each = jnp.stack([jnp.ones_like(self.probability), self.probability], axis=1)
        return jax.nn.one_hot(self.which, kinds, dtype=each.dtype).T @ each


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
    annealed: Sequence[Move] | None = None,
) -> Kernel:
    """Build `jumps` jumps, each by a move chosen at random, followed by one transition of HMC.

    With `annealing_steps` the moves of `annealed` are annealed, by default all. Without an
    architecture that varies it is HMC alone.
    """
    logdensity_fn, architecture = posterior.logdensity_fn, posterior.architecture
    by_name = {} if architecture is None else jumps_of(architecture, moves, logdensity_fn)
    chosen = moves if annealed is None else annealed
    tempers = [annealing_steps > 0 and name.rpartition("_")[0] in chosen for name in by_name]
    within = Within(logdensity_fn, architecture, jitter, divergence_threshold)

    def init(position: jax.Array) -> SizedState:
        value, gradient = jax.value_and_grad(logdensity_fn)(position)
        tried = jnp.zeros((len(by_name), 2), position.dtype)
        return SizedState(position, value, gradient, within.size(position), tried)

    def jump_all(
        key: jax.Array, state: SizedState, tuned: TunedSizes
    ) -> tuple[SizedState, dict[str, jax.Array]]:
        assert architecture is not None
        move = within.tempered(tuned, annealing_integration_steps)
        along_path = _annealed(logdensity_fn, move, annealing_steps)
        proposals = [
            partial(along_path if tempered else _propose, jump)
            for jump, tempered in zip(by_name.values(), tempers, strict=True)
        ]
        one_jump = _jump(
            proposals, logdensity_fn, tuned.scales, architecture.numbers, jnp.asarray(tempers)
        )
        begin = (state.position, state.logdensity)
        (position, _), tried = jax.lax.scan(one_jump, begin, jax.random.split(key, jumps))
        new = jax.lax.cond(jnp.any(tried.accepted), init, lambda _: state, position)
        new = new._replace(tried=tried.account(len(by_name)))
        return new, _account([*by_name], tried, tuned)

    def gradients(state: SizedState) -> jax.Array:
        of_paths = 2 * annealing_steps * annealing_integration_steps * np.array(tempers)
        return (1 + jumps + state.tried[:, 0] @ of_paths).astype(int)

    def step(key: jax.Array, state: SizedState, tuned: TunedSizes) -> tuple[SizedState, Info]:
        key_jumps, key_move = jax.random.split(key)
        told, spent = dict[str, jax.Array](), jnp.zeros((), int)
        if by_name:
            state, told = jump_all(key_jumps, state, tuned)
            spent = gradients(state)
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
    layers = architecture.layers
    for move in moves:
        for number, units in enumerate(architecture.units, start=1):
            if mapped := _map_of_units(move, units, logdensity_fn, architecture.arrays):
                built[f"{move}_{number}"] = of_units(units, mapped)
        if layers is None:
            continue
        if mapped := _map_of_layers(move, layers, logdensity_fn, architecture.arrays):
            built[f"{move}_layer"] = of_layers(layers, mapped)
    return built


def _map_of_units(
    move: Move, units: Units, logdensity_fn: LogDensity, arrays: Arrays | None
) -> Map | None:
    conditional = output_aware(units, logdensity_fn, arrays)
    return {"prior": unchanged, "conditional": conditional, "split": split(units)}.get(move)


def _map_of_layers(
    move: Move, layers: Layers, logdensity_fn: LogDensity, arrays: Arrays | None
) -> Map | None:
    conditional, identity = refitted(layers, logdensity_fn, arrays), near_identity(layers)
    return {"prior": unchanged, "conditional": conditional, "identity": identity}.get(move)


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
        self, key: jax.Array, state: SizedState, tuned: TunedSizes, integration_steps: int
    ) -> tuple[SizedState, Info]:
        """Make one transition that leaves the target given the architecture invariant."""
        kernel = hmc.build(
            Posterior(self.logdensity_fn),
            integration_steps=integration_steps,
            jitter=self.jitter,
            divergence_threshold=self.divergence_threshold,
        )
        step_size = jnp.sum(tuned.step_size * state.size)
        own = Tuned(step_size, self._metric(tuned.inverse_mass_matrix))
        new, info = kernel.step(key, State(*state[:3]), own)
        moved = {name: getattr(new, name) for name in State._fields}
        return state._replace(**moved), info

    def _metric(self, inverse_mass_matrix: jax.Array) -> Any:
        """Give the indicators a mass that nothing moves."""
        held = np.zeros(0, int) if self.architecture is None else self.architecture.held
        moving = gaussian_euclidean(inverse_mass_matrix.at[held].set(0))
        draw = gaussian_euclidean(inverse_mass_matrix).sample_momentum
        return moving._replace(sample_momentum=draw)

    def tempered(self, tuned: TunedSizes, integration_steps: int) -> annealing.Move:
        """Build one transition in any other density."""

        def move(key: jax.Array, position: jax.Array, density: LogDensity) -> jax.Array:
            value, gradient = jax.value_and_grad(density)(position)
            state = SizedState(position, value, gradient, self.size(position), jnp.zeros((0, 2)))
            at = self._replace(logdensity_fn=density)
            return at.move(key, state, tuned, integration_steps)[0].position

        return move


def _jump(
    proposals: Sequence[Callable[..., tuple[jax.Array, Ratio]]],
    logdensity_fn: LogDensity,
    scales: jax.Array,
    numbers: Callable[[jax.Array], dict[str, jax.Array]],
    annealed: jax.Array,
) -> Callable[..., tuple[Any, Tried]]:
    """Build a jump by one of several proposals: of a position and its density, and a key.

    The ratio of those that are `annealed` (proposal,) is complete.
    """

    def jump(
        carry: tuple[jax.Array, jax.Array], key: jax.Array
    ) -> tuple[tuple[jax.Array, jax.Array], Tried]:
        position, value = carry
        key_which, key_propose, key_accept = jax.random.split(key, 3)
        which = jax.random.randint(key_which, (), 0, len(proposals))
        new, ratio = jax.lax.switch(which, proposals, key_propose, position, scales[which])
        new_value = logdensity_fn(new)
        target = jnp.where(annealed[which], ratio.target, new_value - value)
        ratio = ratio._replace(target=target)
        probability = jnp.nan_to_num(jnp.exp(jnp.minimum(ratio.total(), 0)), nan=0.0)
        accepted = jax.random.uniform(key_accept, ()) < probability
        kept = jnp.where(accepted, new, position), jnp.where(accepted, new_value, value)
        return kept, Tried(which, probability, accepted, numbers(position), numbers(new))

    return jump


def _propose(
    jump: Jump, key: jax.Array, position: jax.Array, scale: jax.Array
) -> tuple[jax.Array, Ratio]:
    """Propose what a jump leads to; the densities are left to be compared."""
    chosen = jump.choose(key, position, scale)
    new, jacobian = jump.apply(position, chosen)
    return new, Ratio(jnp.zeros_like(jacobian), jacobian, chosen.direction, chosen.choice)


def _annealed(logdensity_fn: LogDensity, move: annealing.Move, steps: int) -> Propose:
    """Propose the end of an annealed path, whose weight is that of target and map."""

    def propose(
        jump: Jump, key: jax.Array, position: jax.Array, scale: jax.Array
    ) -> tuple[jax.Array, Ratio]:
        key_choose, key_path = jax.random.split(key)
        chosen = jump.choose(key_choose, position, scale)

        def shrink(position: jax.Array) -> Mapped:
            return jump.apply(position, chosen._replace(grow=jnp.asarray(False)))

        grown = jump.apply(position, chosen._replace(grow=jnp.asarray(True)))[0]
        begin = jnp.where(chosen.grow, grown, position)
        path = annealing.anneal(key_path, begin, chosen.grow, shrink, logdensity_fn, move, steps)
        new = jnp.where(chosen.grow, path[0], shrink(path[0])[0])
        return new, Ratio(path[1], jnp.zeros_like(path[1]), chosen.direction, chosen.choice)

    return propose


def _account(names: Sequence[str], tried: Tried, tuned: TunedSizes) -> dict[str, jax.Array]:
    """Summarise all jumps of a draw.

    By name of the jump how often it was tried, the mean probability of its acceptance, and its
    scale if it has one; for each jump (jump,) that probability, whether it was accepted, and from
    which numbers to which it was.
    """
    told = {"jump_probability": tried.probability, "jump_accepted": tried.accepted}
    for number, name in enumerate(names):
        chosen = tried.which == number
        count = jnp.sum(chosen)
        told[f"jumps_{name}"] = count
        told[f"jump_acceptance_{name}"] = jnp.sum(jnp.where(chosen, tried.probability, 0)) / count
        if name.startswith(SCALED):
            told[f"jump_scale_{name}"] = tuned.scales[number]
    for name, before in tried.before.items():
        told |= {f"jump_from_{name}": before, f"jump_to_{name}": tried.proposed[name]}
    return told
