"""Simulator `toy`: the published toy problems."""

from __future__ import annotations

from nlobayes.data.toys import simulate_toy
from nlobayes.types import Table


def simulate(*, name: str, seed: int) -> Table:
    """Draw the rows of a problem."""
    return simulate_toy(name, seed)
