"""Checks of tables before they are drawn, and access to their rows."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray
from pandas import DataFrame
from pandas.api.types import is_numeric_dtype

from nlobayes.errors import InputError
from nlobayes.metrics import ComparisonPlace, shown_in
from nlobayes.plots.style import SPLIT_COLORS

WORDS = {"split": {"train", "val", "test"}, "case": {"good", "typical", "bad", "chosen"}}
ANYTHING, OPTIONAL = "*", "?"


def drawable_rows(table: DataFrame, name: str, columns: Sequence[str]) -> DataFrame:
    """Return the rows of `table` that can be drawn: the needed columns, finite where required.

    A column whose name ends in `?` may lack values; `*` alone takes the table as it is.

    Raises InputError if a column is missing or is not a number, or if no row is left.
    """
    if list(columns) == [ANYTHING]:
        return table
    names = [column.removesuffix(OPTIONAL) for column in columns]
    missing = [column for column in names if column not in table]
    if missing:
        raise InputError("plots.no_column", table=name, missing=missing, columns=[*table.columns])
    for column in names:
        _check_values(table, name, column)
    needed = [n for n in columns if n not in WORDS and not n.endswith(OPTIONAL)]
    finite = np.isfinite(table[needed].to_numpy(dtype=np.float64)).all(axis=1)
    rows = table[names][finite]
    if rows.empty:
        raise InputError("plots.no_finite_row", table=name, columns=needed, rows=len(table))
    return rows


def _check_values(table: DataFrame, name: str, column: str) -> None:
    if column in WORDS:
        received, allowed = set(table[column]), WORDS[column]
        if not received <= allowed:
            raise InputError(
                "plots.unknown_word",
                table=name,
                column=column,
                found=sorted(map(str, received)),
                allowed=sorted(allowed),
            )
    elif not is_numeric_dtype(table[column]):
        dtype = str(table[column].dtype)
        raise InputError("plots.no_numbers", table=name, column=column, dtype=dtype)


def split_rows(table: DataFrame, split: str, name: str = "predictions") -> DataFrame:
    """Return the rows of one split of the table `name`.

    Raises InputError if the split has no rows.
    """
    rows = table[table["split"] == split]
    if rows.empty:
        splits = sorted(table["split"].unique())
        raise InputError("plots.no_split", table=name, split=split, splits=splits)
    return rows


def by_split(table: DataFrame) -> Iterator[tuple[str, DataFrame]]:
    """Yield name and rows of each split that has any."""
    for split in SPLIT_COLORS:
        rows = table[table["split"] == split]
        if len(rows):
            yield split, rows


def by_chain(table: DataFrame, column: str) -> Iterator[tuple[int, DataFrame]]:
    """Yield number and rows of each chain, without the rows where `column` is empty."""
    filled = table.dropna(subset=[column])
    for chain in sorted(filled["chain"].unique()):
        yield int(chain), filled[filled["chain"] == chain]


def floats(table: DataFrame, column: str) -> NDArray[np.float64]:
    """Return one column as an array of float64, shape (row,)."""
    return table[column].to_numpy(dtype=np.float64)


LONGEST_NAME = 24


ERRORS = ("rmse_log10", "rmse_target")
SCANNED, COMPARED = shown_in(ComparisonPlace.SCAN), shown_in(ComparisonPlace.FOREST)


def present(requested: Sequence[str], available: Sequence[str]) -> list[str]:
    """List the scores to draw, in the requested order, with only one root mean square error.

    Raises InputError if there is none.
    """
    metrics = [name for name in requested if name in available]
    if set(ERRORS) <= set(metrics):
        metrics.remove("rmse_target")
    if not metrics:
        raise InputError("plots.no_score", allowed=requested)
    return metrics


def finite(table: DataFrame, column: str) -> NDArray[np.bool_]:
    """Mark the finite numbers of a column; none if it is missing or a text."""
    if column not in table or not is_numeric_dtype(table[column]):
        return np.zeros(len(table), dtype=np.bool_)
    return np.isfinite(floats(table, column))


def short_names(settings: Sequence[str]) -> list[str]:
    """Return names without the parts that all share, shortened in the middle if too long."""
    parts = [setting.split("/") for setting in settings]
    if len(parts) > 1 and len({len(part) for part in parts}) == 1:
        kept = [names for names in zip(*parts, strict=True) if len(set(names)) > 1]
        parts = [list(part) for part in zip(*kept, strict=True)]
    short = [cut("/".join(part)) for part in parts]
    return [
        name if short.count(name) == 1 else f"{number}: {name}"
        for number, name in enumerate(short, start=1)
    ]


def cut(name: str) -> str:
    """Leave out the middle of a name that is too long for an axis."""
    half = LONGEST_NAME // 2
    return name if len(name) <= LONGEST_NAME else f"{name[: half - 1]}…{name[-half:]}"
