"""What a surrogate stores: its targets with their noise, and facts of its training data.

Classes have no noise. The facts are the domain, the limits and a typical point.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from nlobayes.data.references import columns_behind
from nlobayes.data.splits import TRAIN, VALIDATION
from nlobayes.data.transforms import CLASSES, target_transform, unstandardise
from nlobayes.model.networks import BIASES, WEIGHTS, is_parameter
from nlobayes.surrogate.domain import Domain, extended, fit_domain
from nlobayes.surrogate.predictive import Chunk, StoredNoise
from nlobayes.surrogate.train_ranges import fit_limits
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
        if data.target_scale == CLASSES:
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


def names_of_point(data: Dataset) -> list[str]:
    """Name the columns of a point: the inputs, and the reference of the target, if any."""
    return [*data.input_names, *columns_behind(data.transforms["target"].get("relative_to"))]


def fit_domain_of(data: Dataset, learned: np.ndarray) -> Domain:
    """Fit the domain to the rows that are `learned` (row,), as `domain.extended`.

    Distances are those at which the train rows contain the validation rows.
    """
    train, held = (data.features[data.split == split] for split in (TRAIN, VALIDATION))
    domain = fit_domain(train.astype(np.float32), held)
    if np.array_equal(learned, data.split == TRAIN):
        return domain
    return extended(domain, data.features[learned].astype(np.float32))


def facts_of_domain(domain: Domain, data: Dataset, learned: np.ndarray) -> Document:
    """Return facts of the domain that the arrays do not contain: distances, and derived ranges."""
    names = names_of_point(data)
    ranges = fit_limits(points_of_rows(data, learned), names, data.units)
    derived = {what: bounds for what, bounds in ranges.items() if what not in names}
    return {"inside": domain.inside, "edge": domain.edge, "limits": derived}


def limits_of(data: Dataset, learned: np.ndarray) -> np.ndarray:
    """Return the smallest and largest value of each column of the learned points (column, 2)."""
    points = points_of_rows(data, learned)
    return np.column_stack([points.min(axis=0), points.max(axis=0)])


def typical_point(data: Dataset) -> np.ndarray:
    """Return the train point whose features are closest to their medians (column,)."""
    train = data.split == TRAIN
    features = data.features[train]
    sd = features.std(axis=0)
    centred = features - np.median(features, axis=0)
    apart = np.square(centred / np.where(sd > 0, sd, 1.0)).sum(axis=1)
    point: np.ndarray = points_of_rows(data, train)[int(np.argmin(apart))]
    return point


def points_of_rows(data: Dataset, rows: np.ndarray) -> np.ndarray:
    """Return the marked rows with the columns of the surrogate's points (row, column)."""
    if data.relative_to is None or len(names_of_point(data)) == len(data.input_names):
        return data.inputs[rows]
    return np.column_stack([data.inputs, data.relative_to])[rows]
