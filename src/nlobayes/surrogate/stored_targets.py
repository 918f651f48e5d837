"""Targets as a surrogate stores them: numbers, each with its noise, or classes without noise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from nlobayes.data.transforms import CLASSES, target_transform, unstandardise
from nlobayes.model.networks import BIASES, WEIGHTS, is_parameter
from nlobayes.surrogate.predictive import Chunk, StoredNoise
from nlobayes.types import Dataset, NoiseTable
from nlobayes.untyped import Document, Facts

SCORES = (
    *("rmse_log10", "rmse_target", "relative_error_p50", "relative_error_p95"),
    *("coverage_68", "coverage_95", "crps", "lppd", "points"),
    *("accuracy", "brier", "ece"),
)


class Target(NamedTuple):
    """One target: its dataset with this target alone, its noise and its scores."""

    data: Dataset
    noise: StoredNoise
    scores: Facts


def network_of_targets(
    variables: Mapping[str, np.ndarray], data: Dataset, temperature: float
) -> dict[str, np.ndarray]:
    """Select the arrays (draw, ...) of the network, with the outputs of the targets only.

    Further outputs are the noise of the likelihood, which surrogates do not use. Classes have one
    output each, the logit: it is divided by the temperature, and of two classes the first gets
    logit zero.
    """
    drawn = {name: values for name, values in variables.items() if is_parameter(name)}
    last = sum(name.startswith(WEIGHTS) for name in drawn)
    for name in (f"{WEIGHTS}_{last}", f"{BIASES}_{last}"):
        if data.transforms["target"]["scale"] == CLASSES:
            drawn[name] = _logits(drawn[name] / temperature)
        else:
            drawn[name] = drawn[name][..., : len(data.target_names)]
    return drawn


def at_rows(
    outputs: np.ndarray, rows: np.ndarray, data: Dataset, targets: Sequence[Target]
) -> list[tuple[Chunk, StoredNoise]]:
    """Pair f of each target on the model scale with its noise.

    `outputs` (draw, row, ...) are those of the network at the rows of this mask, in its units.
    """
    each = outputs.astype(np.float64).reshape(*outputs.shape[:2], -1)
    found = []
    for place, one in enumerate(targets):
        known = None if one.data.relative_to is None else one.data.relative_to[rows]
        f = unstandardise(target_transform(one.data.transforms), each[..., place], known)
        found.append((Chunk(f, data.features[rows]), one.noise))
    return found


def facts_of_targets(data: Dataset, targets: Sequence[Target], scores: Facts) -> Document:
    """Return the transforms, the noise and the scores of the targets; classes have no noise."""
    if not targets:
        return {"transforms": data.transforms, "scores": _scores(scores)}
    first, *others = targets
    facts = {
        "transforms": {**data.transforms, "target": first.data.transforms["target"]},
        "noise": _stored(first.noise),
        "predictive_noise": first.scores["predictive_noise"],
        "scores": _scores(first.scores),
    }
    return facts | ({"further": [_further(target) for target in others]} if others else {})


def _further(target: Target) -> Document:
    """Return the transform, noise and scores of a further target."""
    constants = target.data.transforms["target"]
    return {
        "target": target.data.target_names[0],
        "transform": {name: constants[name] for name in ("scale", "mean", "sd")},
        "noise": _stored(target.noise),
        "predictive_noise": target.scores["predictive_noise"],
        "scores": _scores(target.scores),
    }


def _logits(outputs: np.ndarray) -> np.ndarray:
    """Return logits (..., class); the logit of the first of two classes is zero."""
    if outputs.shape[-1] > 1:
        return outputs
    return np.concatenate([np.zeros_like(outputs), outputs], axis=-1)


def _stored(noise: StoredNoise) -> Document:
    tables = NoiseTable._fields
    return {name: value for name, value in noise._asdict().items() if name not in tables}


def _scores(scores: Facts) -> dict[str, Document]:
    return {
        split: {name: scores[split][name] for name in SCORES if name in scores[split]}
        for split in ("val", "test")
    }
