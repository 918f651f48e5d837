"""Rows are kept by the values of a column; errors name the values that the column has."""

from typing import Any

import numpy as np
import pytest

from nlobayes.data.selection import keep_rows
from nlobayes.types import Table
from tests.refusals import refused

TABLE = Table(
    {
        "digit": np.array([3.0, 1.0, 2.0, 1.0, 0.0]),
        "quality": np.array(["good", "bad", "good", "1", ""], dtype=object),
        "x": np.arange(5.0),
        "unread": np.array([]),
    },
    {"x": "GeV"},
    {"made": "here"},
)


@pytest.mark.parametrize(
    ("column", "among", "kept"),
    [
        ("digit", [1.0, 3.0], [0, 1, 3]),
        ("digit", [-0.0], [4]),
        ("quality", ["good", "1"], [0, 2, 3]),
    ],
)
def test_rows_of_the_values_are_kept_in_their_order(
    column: str, among: list[Any], kept: list[int]
) -> None:
    found = keep_rows(TABLE, column, among)
    assert found.columns["x"].tolist() == kept
    assert found.columns["digit"].tolist() == TABLE.columns["digit"][kept].tolist()
    assert len(found.columns["unread"]) == 0
    assert (found.units, found.metadata) == (TABLE.units, TABLE.metadata)


@pytest.mark.parametrize(
    ("column", "among", "absent"),
    [
        ("digit", [1.0, 7.0, 8.0], [7.0, 8.0]),
        ("digit", ["1"], ["1"]),
        ("quality", ["good", 1.0], [1.0]),
        ("quality", ["godo"], ["godo"]),
    ],
    ids=["not there", "text of numbers", "number of text", "misspelt"],
)
def test_values_that_no_row_holds_are_refused(
    column: str, among: list[Any], absent: list[Any]
) -> None:
    known = np.unique(TABLE.columns[column]).tolist()
    with refused("data.no_such_rows", absent=absent, column=column, known=known) as caught:
        keep_rows(TABLE, column, among)
    assert "\n" not in str(caught.value)
    part = keep_rows(TABLE, column, among, whole=False)
    assert len(part.columns["x"]) == {"digit": 2, "quality": 2}[column] * (len(among) > 1)
