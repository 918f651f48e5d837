"""Rows are kept and grouped by the values of a column; errors name those that the column has."""

from typing import Any

import numpy as np
import pytest

from nlobayes.data.row_groups import MOST_GROUPS, groups_of
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


def table_of(cells: list[Any]) -> Table:
    """Make a table as readers do: numbers as float64, all else as text."""
    kind = object if any(isinstance(cell, str) for cell in cells) else np.float64
    return Table({"quality": np.array(cells, dtype=kind)}, {}, {})


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["good", "bad", "good"], ["good", "bad", "good"]),
        ([2.0, -1.0, 2.0, -0.0], ["2", "-1", "2", "0"]),
        (["1", "b c", "1"], ["1", "b c", "1"]),
    ],
    ids=["text", "whole numbers", "mixed"],
)
def test_every_row_keeps_its_label(cells: list[Any], expected: list[str]) -> None:
    found = groups_of(table_of(cells), "quality")
    assert [found.labels[code] for code in found.codes] == expected
    assert list(found.labels) == sorted(set(expected))
    assert found.column == "quality"


@pytest.mark.parametrize(
    ("cells", "code", "row"),
    [
        (["a", "", "b"], "data.no_group_label", 2),
        (["a", "b", " b"], "data.no_group_label", 3),
        (["a", "b\x07"], "data.no_group_label", 2),
        (["a", "b" * 61], "data.no_group_label", 2),
        ([1.0, 2.5], "data.group_not_whole", 2),
        ([np.nan, 2.0], "data.group_not_whole", 1),
        ([1.0, 2.0, np.inf], "data.group_not_whole", 3),
    ],
)
def test_what_is_no_label_is_refused_by_its_row(cells: list[Any], code: str, row: int) -> None:
    with refused(code, name="quality", row=row) as caught:
        groups_of(table_of(cells), "quality")
    assert "\n" not in str(caught.value)


def test_as_many_groups_as_allowed_and_no_more() -> None:
    cells = [float(number) for number in range(MOST_GROUPS)]
    assert len(groups_of(table_of(cells), "quality").labels) == MOST_GROUPS
    with refused("data.many_groups", name="quality", count=MOST_GROUPS + 1, where="groups"):
        groups_of(table_of([*cells, 99.0]), "quality")
