"""Groups of rows: their labels from a column of text or of whole numbers, or one clear refusal."""

from typing import Any

import numpy as np
import pytest

from nlobayes.data.selection import MOST_GROUPS, groups_of
from nlobayes.types import Table
from tests.refusals import refused


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
