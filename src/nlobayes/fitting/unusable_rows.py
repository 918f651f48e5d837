"""Rows of a table: those that are trained on, and those that cannot be learned.

The latter have missing cells, sentinels or failed cross sections, and may be any rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from nlobayes.data.cells import hint_of
from nlobayes.data.splits import TRAIN, Split
from nlobayes.errors import InputError
from nlobayes.fitting.cross_sections import is_learned_cross_section, spans_decades
from nlobayes.fitting.inspection import FEW, sentinels
from nlobayes.study import datasets as study
from nlobayes.types import Table
from nlobayes.untyped import Facts

FEW_NUMBERS = 3
"""Most different numbers of failed rows, if the rows are more; messages name as many."""


def are_trained(split: Facts, target: np.ndarray) -> np.ndarray:
    """Mark the train rows of a dataset, given its settings of the split and its target (row,)."""
    labels = Split(**study.Split.model_validate(split).model_dump()).labels(target)
    trained: np.ndarray = labels == TRAIN
    return trained


class BadRows(NamedTuple):
    """Marked rows (row,), what is wrong with them, and the error if they are not left out.

    Without an error they are learned.
    """

    marked: np.ndarray
    words: str
    error: InputError | None = None


def bad_rows(
    table: Table,
    cells: Mapping[str, np.ndarray],
    names: Sequence[str],
    scale: str | None,
    source: str,
) -> list[BadRows]:
    """List the rows of the columns `names`, the first of which is the target, that are unusable.

    `cells` are the columns as read, and in `table` they are numbers. Rows of a cross section that
    are not positive, if they are few or of few numbers, are failed calculations. With scale
    `identity` they are said, and learned.
    """
    missing = (_missing(cells[name], table.columns[name], name, source) for name in names)
    found = [one for one in missing if one.marked.any()]
    target, marks = names[0], {name: sentinels(table.columns[name]) for name in names}
    values = table.columns[target]
    is_cross_section = is_learned_cross_section(target, table.units.get(target, ""), values)
    if is_cross_section or scale == "log10":
        marks[target] |= not_positive(values)
    for name, marked in marks.items():
        if not marked.any():
            continue
        what, row = counted(marked, table.columns[name]), int(np.argmax(marked)) + 1
        error = InputError("fitting.failed_rows", where=source, column=name, what=what, row=row)
        is_refused = name == target and scale != "identity" and (is_cross_section or scale)
        found.append(BadRows(marked, f"{name}: {what}", error if is_refused else None))
    return found


def why_no_logarithm(target: str, values: np.ndarray, train: np.ndarray) -> list[str]:
    """Say which few rows keep the logarithm of a target (row,) from being learned, if any do.

    The logarithm would be learned if the `train` rows span `DECADES`.
    """
    odd = not_positive(values)
    is_lost = odd.any() and spans_decades(values[train])
    return [f"{target} has no logarithm: {counted(odd, values)}"] if is_lost else []


def not_positive(values: np.ndarray) -> np.ndarray:
    """Mark the numbers (row,) without a logarithm, if they are few rows or few numbers."""
    odd = values <= 0
    are_few = odd.mean() <= FEW or len(np.unique(values[odd])) <= FEW_NUMBERS
    return odd if are_few else np.zeros_like(odd)


def _missing(cells: np.ndarray, values: np.ndarray, name: str, source: str) -> BadRows:
    marked = ~np.isfinite(values)
    count, total, row = int(marked.sum()), len(marked), int(np.argmax(marked))
    cell = str(cells[row]).strip()
    hint = f" ({why})" if (why := hint_of(cell)) else ""
    error = InputError(
        "fitting.not_all_numbers",
        where=source,
        column=name,
        row=row + 1,
        holds=f"holds {cell!r}{hint}" if cell else "is empty",
        count=count,
        total=total,
    )
    words = f"{name}: {count} of {total} cells are none, row {row + 1} {error.fields['holds']}"
    return BadRows(marked, words, error)


def counted(odd: np.ndarray, values: np.ndarray) -> str:
    """Count marked rows, with their numbers and the range of the others."""
    numbers = [f"{value:.6g}" for value in np.unique(values[odd])]
    shown = (
        " or ".join(numbers) if len(numbers) <= FEW_NUMBERS else f"{numbers[0]} to {numbers[-1]}"
    )
    others = values[~odd & np.isfinite(values)]
    span = f"{others.min():.3g} to {others.max():.3g}" if others.size else "none"
    are = "is" if odd.sum() == 1 else "are"
    return f"{odd.sum()} of {len(odd)} rows {are} {shown} (others {span})"
