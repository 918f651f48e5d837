"""Random keys for each stage and chain of a seed."""

from __future__ import annotations

from collections.abc import Sequence

import jax
import jax.numpy as jnp

STAGES = {
    **{"start": 0, "pretrain": 1, "warmup": 2, "draw": 3, "landscape": 4, "prior": 5},
    **{"approximate": 6, "output": 7, "sample": 8},
}
MOST_CHAINS = 2**16
"""Limit of chains; restarts of a chain are numbered after it."""


def chain_key(seed: int, stage: str, chain: int) -> jax.Array:
    """Return the random key of one stage of one chain."""
    return jax.random.fold_in(jax.random.fold_in(jax.random.key(seed), STAGES[stage]), chain)


def chain_keys(seed: int, stage: str, chains: Sequence[int]) -> jax.Array:
    """Return the random keys (chain,) of one stage of a group of chains."""
    return jnp.stack([chain_key(seed, stage, chain) for chain in chains])
