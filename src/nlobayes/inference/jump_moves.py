"""The jumps of a study's moves: names of moves, and their bijections."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from nlobayes.inference.architecture import Architecture, Arrays, Layers, Units
from nlobayes.inference.bijections import near_identity, output_aware, refitted, split, unchanged
from nlobayes.inference.jumps import Jump, Map, layer_jumps, unit_jumps
from nlobayes.inference.kernel import LogDensity

Move = Literal["prior", "conditional", "split", "identity"]
SCALED = ("split", "identity")
"""Moves with a learned scale."""


def jumps_of(
    architecture: Architecture, moves: Sequence[Move], logdensity_fn: LogDensity
) -> dict[str, Jump]:
    """Build the jumps that the moves allow, by the names under which they are recorded."""
    built: dict[str, Jump] = {}
    layers = architecture.layers
    for move in moves:
        for number, units in enumerate(architecture.units, start=1):
            if mapped := _map_of_units(move, units, logdensity_fn, architecture.arrays):
                built[f"{move}_{number}"] = unit_jumps(units, mapped)
        if layers is None:
            continue
        if mapped := _map_of_layers(move, layers, logdensity_fn, architecture.arrays):
            built[f"{move}_layer"] = layer_jumps(layers, mapped)
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
