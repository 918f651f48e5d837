"""Draws of the parameters that were integrated out of the density, given all others."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import jax


class Completion(NamedTuple):
    """Completion of the draws of a chain group by the parameters that were integrated out.

    `draw(key, position)` gives the full position; each chain has its own key (chain,).
    """

    keys: jax.Array
    draw: Callable[[jax.Array, jax.Array], jax.Array]
