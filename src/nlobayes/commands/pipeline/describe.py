"""Tabulate rows of a dataset for its figure, before any training."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from nlobayes import provenance
from nlobayes.artifacts.contents import read_dataset
from nlobayes.artifacts.files import write_csv
from nlobayes.artifacts.records import write_record
from nlobayes.artifacts.seals import digests
from nlobayes.data.splits import SPLITS
from nlobayes.types import Columns, Dataset

MOST_ROWS = 2000
"""Most rows of a split that are tabulated, evenly spaced in the order of the table."""


def describe(
    dataset: Annotated[Path, typer.Option(help="Dataset to look at.")],
    plots: Annotated[Path, typer.Option(help="Folder for the tables behind the figure.")],
    record: Annotated[Path | None, typer.Option(help="Record of what made it (JSON).")] = None,
) -> None:
    """Tabulate inputs and targets as read, the split of each row, and a description of the columns.

    At most 2000 rows of each split are tabulated. The table of the splits states the numbers.
    """
    data = read_dataset(dataset)
    shown = {split: _spread(np.flatnonzero(data.split == k)) for k, split in enumerate(SPLITS)}
    written = {
        "data_rows": _rows(data, shown),
        "data_columns": _columns(data),
        "data_splits": _counts(data, shown),
    }
    for name, table in written.items():
        write_csv(plots / f"{name}.csv", table)
    made = provenance.record("describe", {}, digests([dataset]))
    write_record(record, made, [plots / f"{name}.csv" for name in written])


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
    scale = data.transforms["target"]["scale"]
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
