"""The jumps of a study's moves: names of moves, and their bijections."""

from __future__ import annotations

from collections.abc import Sequence

from nlobayes.inference.architecture import Architecture
from nlobayes.inference.jumps.bijections import (
    near_identity,
    output_aware,
    refitted,
    split,
    unchanged,
)
from nlobayes.inference.jumps.jump import Jump, layer_jumps, unit_jumps
from nlobayes.inference.kernel import LogDensity

SCALED = ("split", "identity")
"""Moves with a learned scale."""


def jumps_of(
    architecture: Architecture, moves: Sequence[str], logdensity_fn: LogDensity
) -> dict[str, Jump]:
    """Build the jumps that the moves allow, by the names under which they are recorded."""
    built: dict[str, Jump] = {}
    arrays, layers = architecture.arrays, architecture.layers
    for move in moves:
        for number, units in enumerate(architecture.units, start=1):
            conditional = output_aware(units, logdensity_fn, arrays)
            maps = {"prior": unchanged, "conditional": conditional, "split": split(units)}
            if move in maps:
                built[f"{move}_{number}"] = unit_jumps(units, maps[move])
        if layers is not None:
            conditional, identity = refitted(layers, logdensity_fn, arrays), near_identity(layers)
            maps = {"prior": unchanged, "conditional": conditional, "identity": identity}
            if move in maps:
                built[f"{move}_layer"] = layer_jumps(layers, maps[move])
    return built
