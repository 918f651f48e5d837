"""Conversion of a surrogate of several targets to one surrogate for each target."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from nlobayes.model.networks import BIASES, WEIGHTS
from nlobayes.types import Exported, NoiseTable

FURTHER = "further"
"""Fact that lists the targets after the first, each with the facts `OF_TARGET`."""
OF_TARGET = ("target", "transform", "noise")
"""Facts of each target: its name, its transform and its noise."""


def one_by_one(exported: Exported) -> Iterator[Exported]:
    """Yield each target as a surrogate of one output, in the order of the network's outputs.

    Entries that a file lacks stay missing; `schema.check` reports them.
    """
    facts = {name: value for name, value in exported.facts.items() if name != FURTHER}
    tables = (NoiseTable(exported.residual, exported.probability), *exported.further)
    targets: list[Mapping[str, Any]] = [{}, *exported.facts.get(FURTHER, [])]
    for place, (target, table) in enumerate(zip(targets, tables, strict=False)):
        yield exported._replace(
            variables=_with_output(exported, place),
            facts=_facts_of(facts, target) if place else facts,
            residual=table.residual,
            probability=table.probability,
            further=(),
        )


def _facts_of(facts: Mapping[str, Any], further: Mapping[str, Any]) -> dict[str, Any]:
    target, transform, noise = (further[name] for name in OF_TARGET)
    transforms = {"features": facts["transforms"]["features"], "target": transform}
    return {**facts, "target": target, "transforms": transforms, "noise": noise}


def _with_output(exported: Exported, place: int) -> dict[str, Any]:
    """Return the arrays of the network with one output of its last layer."""
    last = sum(name.startswith(f"{WEIGHTS}_") for name in exported.variables)
    last_layer = (f"{WEIGHTS}_{last}", f"{BIASES}_{last}")
    return {
        name: values[..., place : place + 1] if name in last_layer else values
        for name, values in exported.variables.items()
    }
