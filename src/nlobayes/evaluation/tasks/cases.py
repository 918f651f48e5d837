"""The test rows that a study selects for figures, by row number or by values of inputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from nlobayes.data.splits import SPLITS, TEST
from nlobayes.errors import InputError
from nlobayes.types import Dataset

WHERE = "figures.cases"
RELATIVE = 1e-6
"""Relative tolerance of values of inputs, which users copy from tables with few digits."""


def points_of(cases: Sequence[int | Mapping[str, float]], data: Dataset) -> tuple[int, ...]:
    """Find the row of each case: a number, or the values of some inputs; each row once.

    Raises InputError if there is no such row, it is no test row, or several test rows have these
    values.
    """
    found = (_row(case, data) if isinstance(case, int) else _row_with(case, data) for case in cases)
    return tuple(dict.fromkeys(found))


def _row(case: int, data: Dataset) -> int:
    if case >= len(data.split):
        raise InputError("commands.no_row", where=WHERE, case=case, last=len(data.split) - 1)
    return _checked(case, case, data)


def _row_with(case: Mapping[str, float], data: Dataset) -> int:
    unknown = [name for name in case if name not in data.input_names]
    if unknown:
        raise InputError(
            "commands.no_input_of_case", where=WHERE, unknown=unknown, known=[*data.input_names]
        )
    columns = [data.input_names.index(name) for name in case]
    alike = np.isclose(data.inputs[:, columns], [*case.values()], rtol=RELATIVE, atol=0)
    rows = np.flatnonzero(alike.all(axis=1))
    if not len(rows):
        raise InputError("commands.no_row_with", where=WHERE, case=dict(case))
    tested = rows[data.split[rows] == TEST]
    if len(tested) > 1:
        raise InputError(
            "commands.several_rows", where=WHERE, case=dict(case), rows=tested.tolist()
        )
    return _checked(int((*tested, *rows)[0]), case, data)


def _checked(row: int, case: int | Mapping[str, float], data: Dataset) -> int:
    label = int(data.split[row])
    if label != TEST:
        split = SPLITS[label] if label >= 0 else "no"
        first = np.flatnonzero(data.split == TEST)[:5].tolist()
        raise InputError(
            "commands.no_test_row", where=WHERE, case=case, row=row, split=split, test=first
        )
    return row
