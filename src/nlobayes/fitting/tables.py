"""Settings of a dataset for a table of the user: columns, units, scale and split."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from nlobayes.data.cells import hint_of, unread
from nlobayes.data.headers import check_known
from nlobayes.data.units import declare_units
from nlobayes.errors import InputError
from nlobayes.fitting.cross_sections import results_beside
from nlobayes.fitting.references import (
    AUTO,
    CALCULATIONS,
    NONE,
    columns_of_points,
    with_reference,
    without_units,
)
from nlobayes.study.datasets import Features
from nlobayes.types import Table

SPLIT = {"train": 0.7, "validation": 0.15, "test": 0.15}
DECADES = 1.0
"""Powers of ten that a positive target must span to be learned as its logarithm."""
REPLACED = "a calculation takes the place of the leading order"


class Read(NamedTuple):
    """Settings of a dataset, and the reason for each column that was left out.

    `without_units` names columns whose units a calculation of the target needs.
    """

    dataset: dict[str, Any]
    left_out: dict[str, str]
    without_units: list[str]


def dataset_of(
    table: Table,
    path: str,
    target: str,
    *,
    columns: Sequence[str] = (),
    scale: str | None = None,
    relative_error: str | None = None,
    relative_to: str = NONE,
    units: Mapping[str, str] | None = None,
) -> Read:
    """Choose the inputs, the scale and the reference of a dataset from a table.

    Without `columns`, all columns of different numbers are inputs; of a cross section all but other
    results of its calculation. Without `scale`, a positive target is learned as its logarithm if it
    spans a power of ten. `relative_to` is as in `with_reference`. `units` are those of columns
    whose header names none.

    Raises
    ------
    InputError
        If a column is missing, its header states another unit, the target contains no numbers, or a
        column of numbers has cells without a number.
    """
    reference = None if relative_to in (AUTO, NONE, *CALCULATIONS) else relative_to
    used = [target, *columns, *filter(None, [relative_error, reference])]
    for name in used:
        check_known(table.columns, name, path)
    table = declare_units(table, units or {}, source=path)
    for name in used if columns else table.columns:
        _check_numbers(table.columns[name], name, path)
    values = table.columns[target]
    if values.dtype.kind != "f":
        raise InputError("fitting.text_target", where=path, column=target)
    others = {n: c for n, c in table.columns.items() if n not in (target, relative_error)}
    beside = results_beside(target, [name for name in others if name != reference], table.units)
    left_out = {} if columns else beside | _unfit(others)
    inputs = [*columns] or [name for name in others if name not in left_out]
    if not {*inputs} - {reference}:
        raise InputError("fitting.no_inputs", where=path, target=target)
    settings: dict[str, Any] = {"column": target, "unit": table.units.get(target, "")}
    settings["scale"] = scale or _scale_of(values)
    if relative_error:
        settings["relative_error"] = relative_error
    declared = {"units": dict(units)} if units else {}
    dataset = {
        "source": {"kind": "table", "path": path, "duplicates": "keep", **declared},
        "features": _features_of(inputs, table.units),
        "target": settings,
        "split": dict(SPLIT),
    }
    chosen = with_reference(dataset, table, relative_to)
    needed = columns_of_points(chosen)
    left_out |= {name: REPLACED for name in inputs if name not in needed}
    lacking = without_units(chosen, table.units) if relative_to == AUTO else []
    return Read(chosen, left_out, lacking)


def _check_numbers(cells: np.ndarray, name: str, path: str) -> None:
    """Refuse a column of numbers in which cells, such as empty ones, cannot be read as one."""
    if cells.dtype.kind == "f":
        return
    odd = unread([*map(str, cells)])
    if odd:
        cell = str(cells[odd[0]]).strip()
        hint = f" ({why})" if (why := hint_of(cell)) else ""
        raise InputError(
            "fitting.not_all_numbers",
            where=path,
            column=name,
            row=odd[0] + 1,
            holds=f"holds {cell!r}{hint}" if cell else "is empty",
            count=len(odd),
            total=len(cells),
        )


def _unfit(columns: dict[str, np.ndarray]) -> dict[str, str]:
    """Return the columns that cannot be inputs, each with the reason: text, or one value."""
    text = {name: "text" for name, column in columns.items() if column.dtype.kind != "f"}
    numbers = {name: column for name, column in columns.items() if name not in text}
    return text | {n: "one value" for n, c in numbers.items() if (c == c[0]).all()}


def _scale_of(target: np.ndarray) -> str:
    positive = bool((target > 0).all())
    return "log10" if positive and np.ptp(np.log10(target)) >= DECADES else "identity"


def _features_of(columns: list[str], units: Mapping[str, str]) -> dict[str, Any]:
    """Use raw columns, or the default features of a study if the columns are its inputs.

    The default inputs describe a neutralino. A mass without a unit is taken as it is.
    """
    default = Features()
    if tuple(columns) == default.columns:
        masses = {name: unit if units.get(name) else "" for name, unit in default.units.items()}
        return {"columns": columns, "map": default.map, "units": masses}
    stated = {name: units[name] for name in columns if units.get(name)}
    return {"columns": columns, "map": "raw", "units": stated}
