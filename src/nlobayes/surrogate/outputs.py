"""The targets of one network: each as if the surrogate were of it alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from nlobayes.data.transforms import TargetTransform, unstandardise
from nlobayes.model.networks import BIASES, WEIGHTS
from nlobayes.surrogate.mixture import Chunk, Prediction, StoredNoise, sample, summarise, to_target
from nlobayes.types import Exported, NoiseTable

Scale = Literal["target", "model"]
FURTHER = "further"
"""The fact that lists the targets behind the first, each with `OF_TARGET`."""
OF_TARGET = ("target", "transform", "noise")
"""What is said of each target by itself: its name, its transform and its noise."""


@dataclass(frozen=True, eq=False)
class Output:
    """One target of a network: its name, how it was transformed, and the noise about it."""

    name: str
    transform: TargetTransform
    noise: StoredNoise

    def chunk(
        self, values: np.ndarray, features: np.ndarray, reference: np.ndarray | None
    ) -> Chunk:
        """Take this output of the network (draw, point) to the model scale.

        Only a target that is relative to a reference (point,) takes notice of it.
        """
        known = None if self.transform.relative_to is None else reference
        return Chunk(unstandardise(self.transform, values, known), features)

    def summary(self, chunk: Chunk, quantiles: Sequence[float], on: Scale) -> Prediction:
        """Summarise the predictive of a chunk of points."""
        on_scale = summarise(chunk, self.noise, quantiles)
        if on == "model" or self.transform.scale != "log10":
            return on_scale
        return to_target(chunk, on_scale, self.noise)

    def draws(self, chunk: Chunk, rng: np.random.Generator | None, on: Scale) -> np.ndarray:
        """Draw the predictive (draw, point), or f alone where there is no source of noise."""
        values = chunk.functions if rng is None else sample(chunk, self.noise, rng)
        return self.to_target(values) if on == "target" else values

    def to_target(self, values: np.ndarray) -> np.ndarray:
        """Take values on the model scale to the unit of the target."""
        return 10.0**values if self.transform.scale == "log10" else values


def output_of(exported: Exported) -> Output:
    """Take the one target of what `one_by_one` gives."""
    facts = exported.facts
    noise = StoredNoise(
        **facts["noise"], residual=exported.residual, probability=exported.probability
    )
    return Output(facts["target"], TargetTransform(**facts["transforms"]["target"]), noise)


def joined(parts: Sequence[Prediction]) -> Prediction:
    """Put predictions of consecutive points together."""
    if len(parts) == 1:
        return parts[0]
    return Prediction(*(np.concatenate(fields, axis=-1) for fields in zip(*parts, strict=True)))


def one_by_one(exported: Exported) -> Iterator[Exported]:
    """Give each target as a surrogate of one output, in the order of the network's outputs.

    What a file lacks stays missing, for `schema.check` to say.
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
