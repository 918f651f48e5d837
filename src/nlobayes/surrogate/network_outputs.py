"""The targets of a surrogate: each with its transform, its noise and its output of the network."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from nlobayes.data.transforms import TargetTransform, target_transform, unstandardise
from nlobayes.model.networks import BIASES, WEIGHTS
from nlobayes.surrogate.predictive import (
    Chunk,
    Prediction,
    StoredNoise,
    quantiles_of,
    sample,
    summarise,
)
from nlobayes.surrogate.process import is_process, of_output
from nlobayes.types import SurrogateContent

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
        powers = on == "target" and self.transform.scale == "log10"
        return summarise(chunk, self.noise, quantiles, powers=powers)

    def quantiles(self, chunk: Chunk, probabilities: Sequence[float]) -> np.ndarray:
        """Return quantiles (quantile, point) of the predictive in the unit of the target."""
        return self.to_target(quantiles_of(chunk, self.noise, probabilities))

    def draws(self, chunk: Chunk, rng: np.random.Generator | None, on: Scale) -> np.ndarray:
        """Draw the predictive (draw, point), or f without noise if `rng` is None."""
        values = chunk.functions if rng is None else sample(chunk, self.noise, rng)
        return self.to_target(values) if on == "target" else values

    def to_target(self, values: np.ndarray) -> np.ndarray:
        """Convert values on the model scale to the unit of the target."""
        return 10.0**values if self.transform.scale == "log10" else values


def one_by_one(exported: SurrogateContent) -> Iterator[SurrogateContent]:
    """Yield each target as a surrogate of one output, in the order of the network's outputs."""
    last = sum(name.startswith(f"{WEIGHTS}_") for name in exported.variables)
    last_layer = (f"{WEIGHTS}_{last}", f"{BIASES}_{last}")
    first = {name: value for name, value in exported.facts.items() if name != "further"}
    facts = [first]
    for each in exported.facts.get("further", []):
        transforms = {**first["transforms"], "target": each["transform"]}
        facts.append({**first, **each, "transforms": transforms})
    for place, (of_target, table) in enumerate(zip(facts, exported.noises, strict=True)):
        variables = {
            name: values[..., place : place + 1] if name in last_layer else values
            for name, values in exported.variables.items()
        }
        one = exported._replace(variables=variables, facts=of_target, noises=(table,))
        if is_process(exported):
            variables, rows = of_output(exported.variables, exported.rows, place)
            one = one._replace(variables=variables, rows=rows)
        yield one


def output_of(exported: SurrogateContent) -> Output:
    """Make the output of a surrogate of one target, as `one_by_one` yields it."""
    facts, (table,) = exported.facts, exported.noises
    stated = facts["noise"]
    lines = {name: [*map(np.asarray, stated[name])] for name in ("knots", "coefficients")}
    noise = StoredNoise(**{**stated, **lines, **table._asdict()})
    return Output(facts["target"], target_transform(facts["transforms"]), noise)


def joined(parts: Sequence[Prediction]) -> Prediction:
    """Concatenate predictions of consecutive points."""
    if len(parts) == 1:
        return parts[0]
    return Prediction(*(np.concatenate(fields, axis=-1) for fields in zip(*parts, strict=True)))
