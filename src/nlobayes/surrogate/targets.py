"""The targets of one network: each as if the surrogate were of it alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from nlobayes.model.networks import BIASES, WEIGHTS
from nlobayes.types import Exported, NoiseTable

FURTHER = "further"
"""The fact that lists the targets behind the first, each with `OF_TARGET`."""
OF_TARGET = ("target", "transform", "noise")
"""Facts of each target: its name, its transform and its noise."""


def one_by_one(exported: Exported) -> Iterator[Exported]:
    """Give each target as a surrogate of one output, in the order of the network's outputs.

    Entries that a file lacks stay missing; `schema.check` reports them.
    """
    facts = {name: value for name, value in exported.facts.items() if name != FURTHER}
    tables = (NoiseTable(exported.residual, exported.probability), *exported.further)
    said: list[Mapping[str, Any]] = [{}, *exported.facts.get(FURTHER, [])]
    for place, (of_target, table) in enumerate(zip(said, tables, strict=False)):
        yield exported._replace(
            variables=_with_output(exported, place),
            facts=_facts_of(facts, of_target) if place else facts,
            residual=table.residual,
            probability=table.probability,
            further=(),
        )


def _facts_of(facts: Mapping[str, Any], said: Mapping[str, Any]) -> dict[str, Any]:
    target, transform, noise = (said[name] for name in OF_TARGET)
    transforms = {"features": facts["transforms"]["features"], "target": transform}
    return {**facts, "target": target, "transforms": transforms, "noise": noise}


def _with_output(exported: Exported, place: int) -> dict[str, Any]:
    """Take the arrays of the network, of its last layer one output."""
    last = sum(name.startswith(f"{WEIGHTS}_") for name in exported.variables)
    own = (f"{WEIGHTS}_{last}", f"{BIASES}_{last}")
    return {
        name: values[..., place : place + 1] if name in own else values
        for name, values in exported.variables.items()
    }
