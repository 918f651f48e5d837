"""Tabulate rows of a dataset for its figure, before any training."""

from __future__ import annotations

import numpy as np

from nlobayes.artifacts.contents import DatasetFile
from nlobayes.artifacts.files import TableFiles
from nlobayes.commands.stage import stage
from nlobayes.data.splits import SPLITS
from nlobayes.types import Columns, Dataset

MOST_ROWS = 2000
"""Most rows of a split that are tabulated, evenly spaced in the order of the table."""


@stage()
def describe(dataset: DatasetFile) -> TableFiles:
    """Tabulate inputs and targets as read, the split of each row, and a description of the columns.

    At most 2000 rows of each split are tabulated. The table of the splits states the numbers.

    Parameters
    ----------
    dataset
        Dataset to look at.

    Returns
    -------
    plots
        Folder for the tables behind the figure.
    """
    split = dataset.split
    shown = {name: _spread(np.flatnonzero(split == k)) for k, name in enumerate(SPLITS)}
    return {
        "data_rows": _rows(dataset, shown),
        "data_columns": _columns(dataset),
        "data_splits": _counts(dataset, shown),
    }


def _spread(rows: np.ndarray) -> np.ndarray:
    """Select at most `MOST_ROWS` rows, evenly spaced."""
    chosen = np.linspace(0, len(rows) - 1, min(len(rows), MOST_ROWS))
    return rows[np.rint(chosen).astype(int)]


def _rows(data: Dataset, shown: dict[str, np.ndarray]) -> Columns:
    rows = np.concatenate([*shown.values()])
    splits = [np.full(len(some), split, object) for split, some in shown.items()]
    named = {f"input_{k}": column for k, column in enumerate(data.inputs[rows].T, 1)}
    targets = data.observed.reshape(len(data.split), -1)[rows].T
    named |= {f"target_{k}": column for k, column in enumerate(targets, 1)}
    if data.relative_to is not None:
        named["ratio"] = targets[0] / data.relative_to[rows]
    return {"point": rows, "split": np.concatenate(splits), **named}


def _columns(data: Dataset) -> Columns:
    """Return name, unit and scale of each column of the rows.

    For a target that is learned relative to a reference, the last column is their ratio.
    """
    inputs = [(f"input_{k}", name, "") for k, name in enumerate(data.input_names, 1)]
    scale = data.target_scale
    targets = [(f"target_{k}", name, scale) for k, name in enumerate(data.target_names, 1)]
    if data.relative_to is not None:
        targets.append(("ratio", f"{data.target_names[0]} / reference", ""))
    column, name, scales = (np.array(parts) for parts in zip(*inputs, *targets, strict=True))
    units = np.array([data.units.get(one, "") for one in name])
    return {"column": column, "name": name, "unit": units, "scale": scales}


def _counts(data: Dataset, shown: dict[str, np.ndarray]) -> Columns:
    sizes = [int((data.split == k).sum()) for k, _ in enumerate(shown)]
    tabulated = [len(some) for some in shown.values()]
    return {"split": np.array([*shown]), "rows": np.array(sizes), "shown": np.array(tabulated)}
