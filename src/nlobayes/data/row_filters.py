"""Selection of the rows of a table whose column has one of the given values."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from nlobayes.data.headers import check_known
from nlobayes.errors import InputError
from nlobayes.types import Table

MOST_NAMED = 20
"""Most values of a column that a message names."""


def keep_rows(
    table: Table, column: str, among: Sequence[float | str], *, whole: bool = True
) -> Table:
    """Select the rows whose column has one of the values; columns that were not read stay empty.

    Parameters
    ----------
    table
        Columns and their units.
    column
        Name of a column of numbers or of text.
    among
        The values.
    whole
        Whether the table has all of its rows, so that every value must occur.

    Raises
    ------
    InputError
        If the column is missing, or no row has one of the values.
    """
    check_known(table.columns, column, "rows.column")
    values = table.columns[column]
    wanted = [one for one in among if isinstance(one, str) == (values.dtype.kind != "f")]
    absent = [one for one in among if one not in wanted or not np.any(values == one)]
    if absent and whole:
        raise InputError(
            "data.no_such_rows",
            where="rows.among",
            column=column,
            absent=absent,
            known=np.unique(values)[:MOST_NAMED].tolist(),
        )
    kept = np.isin(values, wanted)
    columns = {name: cells[kept] if len(cells) else cells for name, cells in table.columns.items()}
    return table._replace(columns=columns)
