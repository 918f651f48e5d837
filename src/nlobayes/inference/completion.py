"""What was integrated out of the density, drawn again for every draw of the rest."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import jax


class Completion(NamedTuple):
    """How the draws of a group of chains are completed by what was integrated out.

    `draw(key, position)` gives the whole position; each chain has a key of its own (chain,).
    """

    keys: jax.Array
    draw: Callable[[jax.Array, jax.Array], jax.Array]
