"""What a chain leaves behind: sample stats under ArviZ's names, and a state to continue from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import jax
import jax.numpy as jnp
import numpy as np

from nlobayes.inference.kernels.protocol import Info, State, Tuned
from nlobayes.types import ChainState

ARVIZ_NAMES = {
    "acceptance_rate": "acceptance_rate",
    "energy": "energy",
    "is_divergent": "diverging",
    "num_integration_steps": "n_steps",
    "tree_depth": "tree_depth",
    "step_size": "step_size",
}

Pieces = TypeVar("Pieces")


def sample_stats(info: Info, logdensity: jax.Array) -> dict[str, np.ndarray]:
    """Name the info of every step (draw,) as ArviZ does, with the log density as `lp`."""
    renamed = {ARVIZ_NAMES[name]: value for name, value in info._asdict().items()}
    return {"lp": np.asarray(logdensity), **{n: np.asarray(v) for n, v in renamed.items()}}


def join(pieces: Sequence[Pieces]) -> Pieces:
    """Join pieces of a chain along their first axis."""
    return jax.tree.map(lambda *parts: np.concatenate(parts), *pieces)


def chain_state(chain: int, next_draw: int, state: State, tuned: Tuned) -> ChainState:
    """Record where a chain stands and what was learned."""
    values = {**state._asdict(), **tuned._asdict()}
    return ChainState(chain, next_draw, **{n: np.asarray(v) for n, v in values.items()})


def restore(record: ChainState) -> tuple[State, Tuned]:
    """Restore the state and what was learned, bit for bit."""
    values = {name: jnp.asarray(value) for name, value in record._asdict().items()}
    state = State(*(values[name] for name in State._fields))
    return state, Tuned(*(values[name] for name in Tuned._fields))
