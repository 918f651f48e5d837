"""Choice of the known cross section that the target of a table is learned relative to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from pydantic import ValidationError

from nlobayes.data.references import check_units, completed, reference_at
from nlobayes.errors import InputError
from nlobayes.study.datasets import DatasetPreset, Features
from nlobayes.types import Table

AUTO, NONE = "auto", "none"
CALCULATIONS: dict[str, dict[str, Any]] = {
    "born": {"calculation": "born"},
    "nlo": {"calculation": "nlo"},
    "nlo_half": {"calculation": "nlo", "mu_over_q": 0.5},
    "nlo_twice": {"calculation": "nlo", "mu_over_q": 2.0},
}
"""References to the embedded engine by name; the last two at half and at twice the scale."""
MOST_LEFT = 0.5
"""Largest share of the sd of log10 of the target that a reference may leave to be chosen."""
NOTHING = 1e-6
"""Share below which a reference is the target itself."""
BY_CHANNEL = "channels"
"""Features that describe the ratio to a calculation."""

Dataset = Mapping[str, Any]


def with_reference(dataset: Dataset, table: Table, asked: str) -> dict[str, Any]:
    """Return the settings of a dataset whose target is relative to a reference, or unchanged.

    Parameters
    ----------
    dataset
        Settings of a dataset of this table.
    asked
        Name of a calculation, or of a column; `none`; or `auto`, which takes the calculation that
        leaves the least of the target, if that is at most half of its sd in dex.
    """
    if asked == NONE:
        return {**dataset}
    if asked != AUTO:
        return _relative_to(dataset, CALCULATIONS.get(asked, {"column": asked}))
    left = {name: share for name, share in _shares(dataset, table) if share > NOTHING}
    best = min(left, key=left.__getitem__, default=None)
    if best is None or left[best] > MOST_LEFT:
        return {**dataset}
    return _relative_to(dataset, CALCULATIONS[best])


def _relative_to(dataset: Dataset, reference: Mapping[str, Any]) -> dict[str, Any]:
    features = dict(dataset["features"])
    if "calculation" in reference and features["map"] == Features().map:
        features["map"] = BY_CHANNEL
    target = {**dataset["target"], "relative_to": dict(reference)}
    return {**dataset, "features": features, "target": target}


def _shares(dataset: Dataset, table: Table) -> Iterator[tuple[str, float]]:
    """Yield the share that each calculation leaves; none where it does not apply to all rows."""
    target = table.columns[dataset["target"]["column"]]
    if dataset["target"]["scale"] != "log10" or not (target > 0).all() or not np.ptp(target):
        return
    observed = np.log10(target)
    for name, reference in CALCULATIONS.items():
        try:
            known = _values(_relative_to(dataset, reference), table)
        except (InputError, ValidationError):
            continue
        if np.isfinite(known).all():
            yield name, float(np.std(observed - np.log10(known)) / np.std(observed))


def _values(dataset: Dataset, table: Table) -> np.ndarray:
    """Compute the reference of a dataset in every row (row,); NaN outside its domain."""
    preset = DatasetPreset.model_validate(dataset)
    reference = preset.whole_target.relative_to
    assert reference is not None, dataset
    settings = completed(reference.arguments(), preset.target.unit)
    check_units(settings, table.units)
    columns = preset.features.columns
    points = np.column_stack([table.columns[name] for name in columns])
    return reference_at(settings, points, columns, preset.target.scale)
