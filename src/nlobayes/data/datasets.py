"""A table becomes a dataset: selected, split, transformed with constants of the train rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from nlobayes.data.features import feature_names
from nlobayes.data.splits import TRAIN, reference_rows, split_rows
from nlobayes.data.tables import Selection
from nlobayes.data.transforms import (
    apply_features,
    apply_target,
    fit_features,
    fit_target,
    numerical_error,
    scale_uncertainty,
)
from nlobayes.types import Dataset


class Choices(NamedTuple):
    """How a table enters the network.

    `split` gives rows or fractions of train, validation and test, `train_from` and
    `validation_from` the rows before them.
    """

    feature_map: str
    standardise_features: bool
    target_scale: str
    standardise_target: bool
    split: Sequence[float]
    shuffle: bool
    seed: int
    reference_points: int
    train_from: int = 0
    validation_from: int | None = None


def make_dataset(
    selection: Selection, columns: Sequence[str], targets: Sequence[str], choices: Choices
) -> Dataset:
    """Make the dataset of selected columns.

    Raises
    ------
    InputError
        If a split is empty, a feature or the target is not finite, or constant on train rows, or
        a class does not occur there.
    """
    inputs, observed = selection.inputs, selection.target
    spread = scale_uncertainty(choices.target_scale, observed, selection.variations)
    noise = numerical_error(choices.target_scale, observed, selection.relative_error)
    split = split_rows(
        len(observed),
        choices.split,
        shuffle=choices.shuffle,
        seed=choices.seed,
        train_from=choices.train_from,
        validation_from=choices.validation_from,
    )
    train = split == TRAIN
    features = fit_features(
        choices.feature_map, inputs, train, standardise=choices.standardise_features
    )
    scaled = fit_target(
        choices.target_scale, observed, train, standardise=choices.standardise_target
    )
    constants = {"mean": features.mean.tolist(), "scale": features.scale.tolist()}
    return Dataset(
        inputs=inputs,
        features=apply_features(features, inputs),
        target=apply_target(scaled, observed),
        observed=observed,
        split=split,
        reference=reference_rows(split, choices.reference_points),
        input_names=tuple(columns),
        feature_names=feature_names(choices.feature_map, columns),
        target_names=tuple(targets),
        transforms={"features": {"map": features.map, **constants}, "target": scaled._asdict()},
        units=selection.units,
        scale_uncertainty=spread,
        error=noise,
    )
