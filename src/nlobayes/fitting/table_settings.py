"""Settings of a dataset for a table of the user: columns, units, scale and split."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from nlobayes.data.column_names import check_known, named_columns
from nlobayes.data.references import make_reference
from nlobayes.data.request_checks import declare_units
from nlobayes.data.selection import finite_numbers
from nlobayes.errors import InputError, one_line
from nlobayes.fitting.cross_sections import RESULT, results_beside, spans_decades
from nlobayes.fitting.inspection import (
    FEW,
    REPEATS,
    are_row_numbers,
    are_times,
    copies_of,
    numbers_of,
    repeats,
)
from nlobayes.fitting.reference_choice import (
    AUTO,
    CALCULATIONS,
    NONE,
    columns_of_points,
    why_prevented,
    with_reference,
    without_units,
)
from nlobayes.fitting.unusable_rows import are_trained, bad_rows, why_no_logarithm
from nlobayes.study.datasets import Features
from nlobayes.types import Table
from nlobayes.untyped import Document

SPLIT = {"train": 0.7, "validation": 0.15, "test": 0.15}
FEWEST_ROWS = 6
"""Fewest rows of a table: four train rows, one to fit the error bars and one to test them."""
REMEDY = "--skip-bad leaves these rows out"
REPLACED = "a reference takes the place of the leading order"


class Read(NamedTuple):
    """Settings of a dataset, and what there is to say about its table.

    Attributes
    ----------
    dataset
        Settings of the dataset.
    left_out
        Reason for each column that was left out.
    without_units
        Columns whose units a calculation of the target needs.
    notes
        Further lines: odd rows, and references that were not taken.
    rows
        The table of the rows that are learned, if some are left out; None for the whole table.
    """

    dataset: Document
    left_out: dict[str, str]
    without_units: list[str]
    notes: list[str]
    rows: Table | None = None


class Options(NamedTuple):
    """Choices of the user, as `dataset_of` takes them."""

    path: str
    target: str
    columns: Sequence[str] = ()
    scale: str | None = None
    relative_error: str | None = None
    relative_to: str = NONE
    units: Mapping[str, str] | None = None
    skip_bad: bool = False

    @property
    def reference(self) -> str | None:
        """Column that the target is learned relative to, if one is given."""
        return None if self.relative_to in (AUTO, NONE, *CALCULATIONS) else self.relative_to

    @property
    def beside(self) -> list[str]:
        """Columns that are given beside the inputs and the target."""
        return [name for name in (self.relative_error, self.reference) if name]


def dataset_of(table: Table, path: str, target: str, **options: Any) -> Read:
    """Choose the inputs, the scale and the reference of a dataset from a table.

    Without `columns`, all columns of different numbers are inputs but for row numbers, times,
    errors and copies of the target, and beside a cross section other results. Without `scale`, a
    positive target is learned as its logarithm if it spans a power of ten. `relative_to` is as in
    `with_reference`. These choices read the target of the train rows alone. What makes a row or a
    column valid concerns all rows: missing cells, failed rows, logarithms, row numbers. `units`
    are those of columns whose header names none. With `skip_bad`, rows that cannot be learned are
    left out.

    Parameters
    ----------
    table
        The table as it was read.
    path
        Its path in the settings.
    target
        Name of the column to learn.
    options
        Further fields of `Options`.

    Raises InputError if a column is missing, its header states another unit, the target contains no
    numbers, a column of numbers has cells without a number, a cross section has failed rows, or
    there are fewer rows than `FEWEST_ROWS`.
    """
    return _read(table, Options(path, target, **options))


def _read(given: Table, options: Options) -> Read:
    path, target = options.path, options.target
    for name in (target, *options.columns, *options.beside):
        check_known(given.columns, name, path)
    if (count := len(given.columns[target])) < FEWEST_ROWS:
        raise InputError("fitting.few_rows", where=path, count=count, fewest=FEWEST_ROWS)
    table = _in_numbers(declare_units(given, options.units or {}, source=path))
    _check_numeric(table, target, path)
    train = are_trained(SPLIT, table.columns[target])
    inputs, left_out = _inputs_of(table, given.columns, options, train)
    used = [target, *dict.fromkeys([*inputs, *options.beside])]
    for name in used:
        _check_numeric(table, name, path)
    bad = bad_rows(table, given.columns, used, options.scale, path)
    if bad and options.skip_bad:
        marked = np.any([one.marked for one in bad], axis=0)
        return _read_without(table, marked, [one.words for one in bad], options)
    for error in filter(None, (one.error for one in bad)):
        raise error
    notes = [f"{one.words}; {REMEDY}" for one in bad]
    notes += [] if options.scale else why_no_logarithm(target, table.columns[target], train)
    dataset = _settings(table, inputs, options, train)
    chosen, prevented = with_reference(dataset, table, options.relative_to)
    if prevented and prevented.lacking.any():
        why = why_prevented(prevented, table)
        are_few = prevented.lacking.mean() <= FEW and prevented.is_useful
        if options.skip_bad and (are_few or options.relative_to != AUTO):
            return _read_without(table, prevented.lacking, [why], options)
        notes.append(f"not relative to {why}{f'; {REMEDY}' if are_few else ''}")
    left_out |= {name: REPLACED for name in inputs if name not in columns_of_points(chosen)}
    lacking = without_units(chosen, table.units) if options.relative_to == AUTO else []
    return Read(chosen, left_out, lacking, notes)


def _read_without(table: Table, marked: np.ndarray, words: list[str], options: Options) -> Read:
    """Read a table without the marked rows (row,), and say why they are left out."""
    rest = {name: cells[~marked] for name, cells in table.columns.items()}
    used = table._replace(columns=rest)
    read = _read(used, options)
    note = f"left out {marked.sum()} of {len(marked)} rows: {'; '.join(words)}"
    return read._replace(notes=[note, *read.notes], rows=read.rows or used)


def _inputs_of(
    table: Table, cells: Mapping[str, np.ndarray], options: Options, train: np.ndarray
) -> tuple[list[str], dict[str, str]]:
    """Return the inputs, and the reason for each column that is none; arguments as `_left_out`."""
    no_inputs = (options.target, options.relative_error)
    given = [name for name in table.columns if name not in no_inputs]
    looked_at = [] if options.columns else [name for name in given if name != options.reference]
    left_out = _left_out(table, cells, options.target, looked_at, train)
    inputs = [*options.columns] or [name for name in given if name not in left_out]
    if not {*inputs} - {options.reference}:
        raise InputError(
            "fitting.no_inputs", where=options.path, target=options.target, left_out=[*left_out]
        )
    return inputs, left_out


def _settings(table: Table, inputs: list[str], options: Options, train: np.ndarray) -> Document:
    """Return the settings of the dataset, whose target has no reference yet."""
    values = table.columns[options.target]
    spans = (values > 0).all() and spans_decades(values[train])
    declared = {"units": dict(options.units)} if options.units else {}
    error = {"relative_error": options.relative_error} if options.relative_error else {}
    return {
        "source": {"kind": "table", "path": options.path, "duplicates": "keep", **declared},
        "features": _features_of(inputs, table.units),
        "target": {
            "column": options.target,
            "unit": table.units.get(options.target, ""),
            "scale": options.scale or ("log10" if spans else "identity"),
            **error,
        },
        "split": dict(SPLIT),
    }


def lines_of(read: Read) -> Iterator[str]:
    """Yield what is learned from what, what is left out, and what else there is to say."""
    features, target = read.dataset["features"], read.dataset["target"]
    learned = target["column"] if target["scale"] == "identity" else f"log10 {target['column']}"
    unit = f" [{target['unit']}]" if target["unit"] else ""
    known = (
        f" relative to {make_reference(target['relative_to']).in_words}"
        if "relative_to" in target
        else ""
    )
    yield f"learning {learned}{unit}{known} from {', '.join(features['columns'])}"
    for reason in dict.fromkeys(read.left_out.values()):
        names = [one_line(name) for name, why in read.left_out.items() if why == reason]
        yield f"left out: {', '.join(named_columns(names))} ({reason})"
    yield from read.notes
    if read.without_units:
        needed = " ".join(f"--unit {name}=UNIT" for name in read.without_units)
        yield f"relative to a calculation, its errors are smaller: give {needed}"


def _in_numbers(table: Table) -> Table:
    """Convert columns in which most cells are numbers; the others of their cells become NaN."""
    numbers = {name: numbers_of(cells) for name, cells in table.columns.items()}
    return table._replace(
        columns={n: table.columns[n] if c is None else c for n, c in numbers.items()}
    )


def _check_numeric(table: Table, name: str, path: str) -> None:
    """Refuse a column of text, by its first cell that is no number."""
    if table.columns[name].dtype.kind != "f":
        finite_numbers(table, name, path)


def _left_out(
    table: Table,
    cells: Mapping[str, np.ndarray],
    target: str,
    names: Sequence[str],
    train: np.ndarray,
) -> dict[str, str]:
    """Return the columns among `names` that are no inputs, each with the reason.

    `cells` are the columns as read, and `train` marks the train rows (row,).
    """
    seen = {name: column[train] for name, column in table.columns.items()}
    found, values = results_beside(target, names, table._replace(columns=seen)), seen[target]
    for name, reason in found.items():
        if reason == RESULT and repeats(seen[name], values):
            found[name] = REPEATS
    for name in names:
        if name not in found and (reason := _unfit(name, table.columns[name], cells[name])):
            found[name] = reason
    rest = {name: seen[name] for name in names if name not in found}
    return found | copies_of(target, values, rest)


def _unfit(name: str, column: np.ndarray, cells: np.ndarray) -> str:
    """Return why a column can be no input of any target; empty if it can.

    A column with other values beside the train rows can, so that these points are outside the
    domain.
    """
    if column.dtype.kind != "f":
        return "text"
    values = column[np.isfinite(column)]
    if not values.size:  # cells that could almost be read are refused later
        return "no numbers" if cells.dtype.kind == "f" else ""
    if not np.ptp(values):
        return "one value"
    if are_row_numbers(name, values):
        return "row numbers"
    return "times" if are_times(name, values) else ""


def _features_of(columns: list[str], units: Mapping[str, str]) -> Document:
    """Use raw columns, or the default features of a study if the columns are its inputs.

    The default inputs describe a neutralino. A mass without a unit is taken as it is.
    """
    default = Features()
    if tuple(columns) == default.columns:
        masses = {name: unit if units.get(name) else "" for name, unit in default.units.items()}
        return {"columns": columns, "map": default.map, "units": masses}
    stated = {name: units[name] for name in columns if units.get(name)}
    return {"columns": columns, "map": "raw", "units": stated}
