"""Conversion of tables to datasets: selection, splits, transforms fitted on the train rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np

from nlobayes.data.features import feature_names
from nlobayes.data.references import columns_behind, completed, make_reference
from nlobayes.data.selection import Selection
from nlobayes.data.splits import TRAIN, Split, StatedSplit, reference_rows
from nlobayes.data.transforms import (
    TargetTransform,
    along_targets,
    apply_features,
    apply_target,
    constants_of,
    feature_transform,
    fit_features,
    fit_target,
    is_constant,
    numerical_error,
    scale_uncertainty,
)
from nlobayes.types import Dataset, RowGroups
from nlobayes.untyped import Document, Facts

SCALE, SCALE_ERRORS, COMBINED = "scale", "scale_errors", "combined"
"""Sources of theory errors, of which the second becomes the first."""


class Choices(NamedTuple):
    """Choices of how the rows of a table become inputs and targets of the network.

    `relative_to` has the settings of a reference. `components` is the number of principal
    components that replace the features. `theory` names the further targets that hold the theory
    errors, by source.
    """

    feature_map: str
    standardise_features: bool
    target_scale: str
    standardise_target: bool
    split: Split | StatedSplit
    reference_points: int
    relative_to: Facts | None = None
    components: int | None = None
    theory: Mapping[str, Sequence[str]] | None = None


def make_dataset(
    selection: Selection,
    columns: Sequence[str],
    targets: Sequence[str],
    choices: Choices,
    groups: RowGroups | None = None,
) -> Dataset:
    """Make the dataset from the selected columns and the groups of their rows.

    Raises InputError if a split is empty, a feature or the target is not finite, the target or
    every feature is constant on the train rows, or a class does not occur in them; or if the
    reference is not finite, or not positive on the scale log10.
    """
    theory: Document = {}
    if choices.theory is not None:
        selection, targets, theory = _with_ratios(selection, targets, choices.theory)
    inputs, observed = selection.inputs, selection.target
    target = targets[0]
    settings, known = _reference(selection, columns, target, choices)
    reference = along_targets(known, observed)
    spread = scale_uncertainty(choices.target_scale, observed, selection.variations)
    noise = _noise(choices.target_scale, selection)
    split = choices.split.labels(observed)
    train = split == TRAIN
    features = fit_features(
        choices.feature_map,
        inputs,
        train,
        standardise=choices.standardise_features,
        components=choices.components,
    )
    if settings is not None:
        bare = TargetTransform(choices.target_scale, 0.0, 1.0)
        left = apply_target(bare._replace(relative_to=settings), observed, reference)
        make_reference(settings).check_left(left[train], apply_target(bare, observed)[train])
    scaled = fit_target(
        choices.target_scale,
        observed,
        train,
        standardise=choices.standardise_target,
        relative_to=settings,
        reference=reference,
    )
    return Dataset(
        inputs=inputs,
        features=apply_features(features, inputs),
        target=apply_target(scaled, observed, reference),
        observed=observed,
        split=split,
        reference=reference_rows(split, choices.reference_points),
        input_names=tuple(columns),
        feature_names=feature_names(choices.feature_map, columns, choices.components),
        target_names=tuple(targets),
        transforms={"features": constants_of(features), "target": _constants(scaled)} | theory,
        units=selection.units
        | {name: selection.units[target] for name in columns_behind(settings)},
        scale_uncertainty=spread,
        error=noise,
        relative_to=known,
        groups=groups,
    )


def constant_features(data: Dataset) -> dict[str, float]:
    """Return the value of each feature that is constant on the train rows, by its name.

    Principal components always vary.
    """
    transform = feature_transform(data.transforms["features"])
    if transform.components is not None:
        return {}
    features = transform.mean + transform.scale * data.features[data.split == TRAIN]
    named = zip(data.feature_names, features.T, strict=True)
    return {name: float(values[0]) for name, values in named if is_constant(values)}


def _with_ratios(
    selection: Selection, targets: Sequence[str], by_source: Mapping[str, Sequence[str]]
) -> tuple[Selection, tuple[str, ...], Document]:
    """Divide the theory errors by the target, and name the ratios after it.

    The ratios vary slowly with the inputs. They are not finite if the target is zero, and targets
    on a log scale are checked later. Errors of scale become cross sections at other scales.
    """
    central, *_ = targets
    named = {
        SCALE if source == SCALE_ERRORS else source: [f"{name}_over_{central}" for name in columns]
        for source, columns in by_source.items()
    }
    names = (central, *chain.from_iterable(named.values()))
    units = {n: unit for n, unit in selection.units.items() if n not in targets[1:]}
    whole = units | dict.fromkeys(names[1:], "")
    column = dict(zip(targets, selection.target.T, strict=True))
    for source, (up, *down) in by_source.items():
        if source in (SCALE_ERRORS, COMBINED):
            column |= {name: np.abs(column[name]) for name in (up, *down)}
        if source == SCALE_ERRORS:
            column[up] = column[central] + column[up]
            column[down[0]] = column[central] - column[down[0]]
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = [column[name] / column[central] for name in targets[1:]]
    return (
        selection._replace(target=np.column_stack([column[central], *ratios]), units=whole),
        names,
        {"theory": named},
    )


def _noise(scale: str, selection: Selection) -> np.ndarray | None:
    """Return the sd of the numerical noise of each target on its scale; None if it is not known."""
    if selection.error is not None:
        return selection.error
    return numerical_error(scale, selection.target, selection.relative_error)


def _constants(target: TargetTransform) -> Document:
    """Return the constants by name, without `relative_to` if the target has no reference."""
    constants = target._asdict()
    if target.relative_to is None:
        del constants["relative_to"]
    return constants


def _reference(
    selection: Selection, columns: Sequence[str], target: str, choices: Choices
) -> tuple[Document | None, np.ndarray | None]:
    """Complete the settings of the reference, and compute its value in every row."""
    if choices.relative_to is None:
        return None, None
    settings = completed(choices.relative_to, selection.units[target])
    reference = make_reference(settings)
    reference.check_units(selection.units)
    behind = [] if selection.reference is None else [selection.reference]
    points = np.column_stack([selection.inputs, *behind])
    known = reference.values(points, (*columns, *reference.behind), choices.target_scale)
    reference.check_rows(known, choices.target_scale)
    return settings, known
