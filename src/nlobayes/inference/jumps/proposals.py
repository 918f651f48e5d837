"""Proposals of jumps, at once or along an annealed path, and their acceptance by Green's ratio.

Annealed jumps move along tempered densities between their proposal and their acceptance
(Karagiannis and Andrieu 2013, J. Comput. Graph. Stat. 22, 623, algorithm 1), with kernels that are
reversible at every temperature. The whole path is in the coordinates of the larger architecture, so
that the reverse jump follows the same path backwards.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from nlobayes.inference.jumps.jump import Jump, Mapped, Ratio
from nlobayes.inference.jumps.moves import SCALED
from nlobayes.inference.kernel import LogDensity
from nlobayes.untyped import Tree

TemperedMove = Callable[[jax.Array, jax.Array, Callable[..., jax.Array]], jax.Array]
"""A move of a key, a position and a log density; it is reversible in that density."""

Propose = Callable[[Jump, jax.Array, jax.Array, jax.Array], tuple[jax.Array, Ratio]]
"""A proposal: takes a jump, a key, a position and a scale; gives a position and its ratio."""


class JumpRecord(NamedTuple):
    """Jumps that were tried, by their place in the list of jumps, and their outcomes.

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


class Jumps(NamedTuple):
    """The jumps of a kernel by name, which of them follow an annealed path, and the length of it.

    `numbers` counts the units and layers in use at a position (parameter,), by name.
    """

    by_name: dict[str, Jump]
    annealed: np.ndarray
    annealing_steps: int
    logdensity_fn: LogDensity
    numbers: Callable[[jax.Array], dict[str, jax.Array]]

    def make(
        self,
        keys: jax.Array,
        begin: tuple[jax.Array, jax.Array],
        scales: jax.Array,
        move: TemperedMove,
    ) -> tuple[jax.Array, JumpRecord]:
        """Make one jump, chosen at random, for each key (jump,) in turn.

        They begin at a position (parameter,) with its log density; `scales` (kind of jump,) are
        those of the jumps, and `move` is that of annealed paths.

        Returns the last position, and the record of all jumps (jump,).
        """
        along_path = annealed_proposal(self.logdensity_fn, move, self.annealing_steps)
        proposals = [
            partial(along_path if annealed else propose, jump)
            for jump, annealed in zip(self.by_name.values(), self.annealed, strict=True)
        ]
        is_annealed = jnp.asarray(self.annealed)

        def one_jump(
            carry: tuple[jax.Array, jax.Array], key: jax.Array
        ) -> tuple[tuple[jax.Array, jax.Array], JumpRecord]:
            position, value = carry
            key_which, key_propose, key_accept = jax.random.split(key, 3)
            which = jax.random.randint(key_which, (), 0, len(proposals))
            new, ratio = jax.lax.switch(which, proposals, key_propose, position, scales[which])
            new_value = self.logdensity_fn(new)
            # The weight of an annealed path includes the target.
            target = jnp.where(is_annealed[which], ratio.target, new_value - value)
            ratio = ratio._replace(target=target)
            probability = jnp.nan_to_num(jnp.exp(jnp.minimum(ratio.total(), 0)), nan=0.0)
            accepted = jax.random.uniform(key_accept, ()) < probability
            kept = jnp.where(accepted, new, position), jnp.where(accepted, new_value, value)
            before, proposed = self.numbers(position), self.numbers(new)
            return kept, JumpRecord(which, probability, accepted, before, proposed)

        (position, _), tried = jax.lax.scan(one_jump, begin, keys)
        return position, tried


def propose(
    jump: Jump, key: jax.Array, position: jax.Array, scale: jax.Array
) -> tuple[jax.Array, Ratio]:
    """Propose the position of a jump; the caller compares the densities."""
    chosen = jump.choose(key, position, scale)
    new, jacobian = jump.apply(position, chosen)
    return new, Ratio(jnp.zeros_like(jacobian), jacobian, chosen.direction, chosen.choice)


def annealed_proposal(logdensity_fn: LogDensity, move: TemperedMove, steps: int) -> Propose:
    """Build a proposal of the end of an annealed path; its weight includes target and map."""

    def propose_along_path(
        jump: Jump, key: jax.Array, position: jax.Array, scale: jax.Array
    ) -> tuple[jax.Array, Ratio]:
        key_choose, key_path = jax.random.split(key)
        chosen = jump.choose(key_choose, position, scale)

        def shrink(position: jax.Array) -> Mapped:
            return jump.apply(position, chosen._replace(grow=jnp.asarray(False)))

        grown = jump.apply(position, chosen._replace(grow=jnp.asarray(True)))[0]
        begin = jnp.where(chosen.grow, grown, position)
        path = _anneal(key_path, begin, chosen.grow, shrink, logdensity_fn, move, steps)
        new = jnp.where(chosen.grow, path[0], shrink(path[0])[0])
        return new, Ratio(path[1], jnp.zeros_like(path[1]), chosen.direction, chosen.choice)

    return propose_along_path


def statistics(names: Sequence[str], tried: JumpRecord, scales: jax.Array) -> dict[str, jax.Array]:
    """Summarise all jumps of a draw.

    Entries by name of a jump are the number of tries, the mean acceptance probability, and the
    scale if the jump has one. Entries of each try (jump,) are its acceptance probability, whether
    it was accepted, and the numbers of units and layers before it and proposed by it.
    """
    recorded = {"jump_probability": tried.probability, "jump_accepted": tried.accepted}
    for number, name in enumerate(names):
        chosen = tried.which == number
        count = jnp.sum(chosen)
        recorded[f"jumps_{name}"] = count
        recorded[f"jump_acceptance_{name}"] = (
            jnp.sum(jnp.where(chosen, tried.probability, 0)) / count
        )
        if name.startswith(SCALED):
            recorded[f"jump_scale_{name}"] = scales[number]
    for name, before in tried.before.items():
        recorded |= {f"jump_from_{name}": before, f"jump_to_{name}": tried.proposed[name]}
    return recorded


def _anneal(
    key: jax.Array,
    grown: jax.Array,
    grow: jax.Array,
    shrink: Callable[[jax.Array], Mapped],
    logdensity_fn: LogDensity,
    move: TemperedMove,
    steps: int,
) -> tuple[jax.Array, jax.Array]:
    """Move a position of the larger architecture (parameter,) from one density to the other.

    The log density at b is (1 - b) log pi(shrink(z)) + b log pi(z), with the Jacobian of `shrink`
    in the first term; b rises from 0 to 1 if the jump grows and falls otherwise, by `steps` + 1
    equal steps.

    Returns the last position, and the log weight of the path (scalar): the factors target and
    Jacobian of the ratio.
    """

    def smaller(position: jax.Array) -> jax.Array:
        shrunk, jacobian = shrink(position)
        return logdensity_fn(shrunk) + jacobian

    def inverse_temperature(step: jax.Array) -> jax.Array:
        share = step / (steps + 1)
        return jnp.where(grow, share, 1 - share)

    def gain(position: jax.Array, step: jax.Array) -> jax.Array:
        change = inverse_temperature(step + 1) - inverse_temperature(step)
        return change * (logdensity_fn(position) - smaller(position))

    def one_step(carry: tuple[jax.Array, jax.Array], step: jax.Array) -> tuple[Tree, None]:
        position, weight = carry
        b = inverse_temperature(step)

        def tempered(z: jax.Array, _: Tree = 1.0, /) -> jax.Array:
            return (1 - b) * smaller(z) + b * logdensity_fn(z)

        position = move(jax.random.fold_in(key, step), position, tempered)
        return (position, weight + gain(position, step)), None

    begin = (grown, gain(grown, jnp.zeros((), int)))
    return jax.lax.scan(one_step, begin, 1 + jnp.arange(steps))[0]
