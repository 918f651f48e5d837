"""What one target of a network needs to be predicted: its transform and its noise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from nlobayes.data.transforms import TargetTransform, unstandardise
from nlobayes.surrogate.mixture import Chunk, Prediction, StoredNoise, sample, summarise, to_target
from nlobayes.types import Exported

Scale = Literal["target", "model"]


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
    """Take the one target of what `targets.one_by_one` gives."""
    facts = exported.facts
    stated = facts["noise"]
    lines = {name: [*map(np.asarray, stated[name])] for name in ("knots", "coefficients")}
    tables = {"residual": exported.residual, "probability": exported.probability}
    noise = StoredNoise(**{**stated, **lines, **tables})
    return Output(facts["target"], TargetTransform(**facts["transforms"]["target"]), noise)


def joined(parts: Sequence[Prediction]) -> Prediction:
    """Put predictions of consecutive points together."""
    if len(parts) == 1:
        return parts[0]
    return Prediction(*(np.concatenate(fields, axis=-1) for fields in zip(*parts, strict=True)))
