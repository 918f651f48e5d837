"""Simulator `simulate`: the embedded NLO engine."""

from __future__ import annotations

from typing import Any

from nlobayes.data.physics import source
from nlobayes.types import Table


def simulate(*, seed: int, points: int, **settings: Any) -> Table:
    """Compute the points of a scan; `settings` are those of `physics.source.Settings`."""
    return source.simulate(seed, points, source.Settings(**settings))
