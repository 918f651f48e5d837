"""Proposals of jumps, at once or along an annealed path, and their acceptance by Green's ratio."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import jax
import jax.numpy as jnp

from nlobayes.inference import annealing
from nlobayes.inference.jump_moves import SCALED
from nlobayes.inference.jumps import Jump, Mapped, Ratio
from nlobayes.inference.kernel import LogDensity
from nlobayes.untyped import Tree

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


def one_of(
    proposals: Sequence[Callable[..., tuple[jax.Array, Ratio]]],
    logdensity_fn: LogDensity,
    scales: jax.Array,
    numbers: Callable[[jax.Array], dict[str, jax.Array]],
    annealed: jax.Array,
) -> Callable[..., tuple[Tree, JumpRecord]]:
    """Build a jump by one of several proposals, of a position with its density and a key.

    The ratio of the `annealed` proposals (proposal,) is complete; for the others the factor of the
    target is added here.
    """

    def jump(
        carry: tuple[jax.Array, jax.Array], key: jax.Array
    ) -> tuple[tuple[jax.Array, jax.Array], JumpRecord]:
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
        return kept, JumpRecord(which, probability, accepted, numbers(position), numbers(new))

    return jump


def propose(
    jump: Jump, key: jax.Array, position: jax.Array, scale: jax.Array
) -> tuple[jax.Array, Ratio]:
    """Propose the position of a jump; the caller compares the densities."""
    chosen = jump.choose(key, position, scale)
    new, jacobian = jump.apply(position, chosen)
    return new, Ratio(jnp.zeros_like(jacobian), jacobian, chosen.direction, chosen.choice)


def annealed_proposal(logdensity_fn: LogDensity, move: annealing.Move, steps: int) -> Propose:
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
        path = annealing.anneal(key_path, begin, chosen.grow, shrink, logdensity_fn, move, steps)
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
