"""Checks of tables before they are drawn, and access to their rows."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray
from pandas import DataFrame
from pandas.api.types import is_numeric_dtype

from nlobayes.errors import InputError
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
