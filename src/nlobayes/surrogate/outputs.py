"""Prediction of one target of a network, with its transform and its noise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from nlobayes.data.transforms import TargetTransform, target_transform, unstandardise
from nlobayes.surrogate.mixture import Chunk, Prediction, StoredNoise, sample, summarise, to_target
from nlobayes.types import Exported

Scale = Literal["target", "model"]


@dataclass(frozen=True, eq=False)
class Output:
    """One target of a network: its name, its transform, and the noise about it."""

    name: str
    transform: TargetTransform
    noise: StoredNoise

    def chunk(
        self, values: np.ndarray, features: np.ndarray, reference: np.ndarray | None
    ) -> Chunk:
        """Convert this output of the network (draw, point) to the model scale.

        A target that is not relative to a reference (point,) ignores it.
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
        """Draw the predictive (draw, point), or f without noise if `rng` is None."""
        values = chunk.functions if rng is None else sample(chunk, self.noise, rng)
        return self.to_target(values) if on == "target" else values

    def to_target(self, values: np.ndarray) -> np.ndarray:
        """Convert values on the model scale to the unit of the target."""
        return 10.0**values if self.transform.scale == "log10" else values


def output_of(exported: Exported) -> Output:
    """Make the output of a surrogate of one target, as `targets.one_by_one` yields it."""
    facts = exported.facts
    stated = facts["noise"]
    lines = {name: [*map(np.asarray, stated[name])] for name in ("knots", "coefficients")}
    tables = {"residual": exported.residual, "probability": exported.probability}
    noise = StoredNoise(**{**stated, **lines, **tables})
    return Output(facts["target"], target_transform(facts["transforms"]), noise)


def joined(parts: Sequence[Prediction]) -> Prediction:
    """Concatenate predictions of consecutive points."""
    if len(parts) == 1:
        return parts[0]
    return Prediction(*(np.concatenate(fields, axis=-1) for fields in zip(*parts, strict=True)))
