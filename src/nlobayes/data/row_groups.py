"""Groups of rows of a table, by the labels in a column."""

from __future__ import annotations

import numpy as np

from nlobayes.errors import InputError
from nlobayes.types import RowGroups, Table

MOST_GROUPS = 20
"""Most groups of a dataset; a column with more values hardly names groups."""
LONGEST_LABEL = 60
"""Most characters of a label, so that tables can show it."""


def groups_of(table: Table, name: str) -> RowGroups:
    """Group the rows of a table by a column of text or of whole numbers.

    Raises InputError if a row has no label, a number is not whole, a label is not printable on one
    short line, or there are more than `MOST_GROUPS` groups.
    """
    values = table.columns[name]
    rows = _as_text(name, values) if values.dtype.kind == "f" else values.astype(str)
    labels, codes = np.unique(rows, return_inverse=True)
    if len(labels) > MOST_GROUPS:
        raise InputError(
            "data.many_groups", where="groups", name=name, count=len(labels), most=MOST_GROUPS
        )
    bad = np.flatnonzero([not _is_label(label) for label in labels.tolist()])
    if bad.size:
        row = int(np.flatnonzero(np.isin(codes, bad))[0])
        raise InputError(
            "data.no_group_label",
            where="groups",
            name=name,
            row=row + 1,
            label=str(rows[row])[:LONGEST_LABEL],
            longest=LONGEST_LABEL,
        )
    return RowGroups(name, tuple(labels.tolist()), codes.astype(np.int64))


def _as_text(name: str, values: np.ndarray) -> np.ndarray:
    """Write whole numbers (row,) as text."""
    bad = np.flatnonzero(~np.isfinite(values) | (values != np.round(values)))
    if bad.size:
        row = int(bad[0])
        raise InputError(
            "data.group_not_whole", where="groups", name=name, row=row + 1, value=float(values[row])
        )
    return np.array([f"{value:.0f}" for value in (values + 0.0).tolist()])


def _is_label(text: str) -> bool:
    return bool(text) and text == text.strip() and text.isprintable() and len(text) <= LONGEST_LABEL
