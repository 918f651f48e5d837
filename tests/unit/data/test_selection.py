"""Sums of columns, and the rows of a table that a dataset keeps."""

import numpy as np
import pytest

from nlobayes.data.selection import add_sums, keep_rows
from nlobayes.types import Table
from tests.refusals import refused


def test_sums_of_columns_have_their_unit_and_the_weighted_values() -> None:
    table = Table(
        {"a": np.array([1.0, 2.0]), "b": np.array([10.0, 20.0])}, {"a": "GeV", "b": ""}, {}
    )
    found = add_sums(table, {"c": {"a": 2.0, "b": -0.5}}, {"b": "GeV"})
    np.testing.assert_array_equal(found.columns["c"], [-3.0, -6.0])
    assert found.units["c"] == "GeV"


@pytest.mark.parametrize(
    ("sums", "code"),
    [
        ({"a": {"b": 1.0}}, "data.sum_exists"),
        ({"d": {"a": 1.0, "t": 1.0}}, "data.sum_of_units"),
        ({"d": {"e": 1.0}}, "data.no_column"),
        ({"d": {"t": 1.0}}, "data.not_numeric"),
    ],
)
def test_a_sum_that_cannot_be_is_refused(sums: dict[str, dict[str, float]], code: str) -> None:
    columns = {"a": np.ones(2), "b": np.ones(2), "t": np.array(["x", "y"], object)}
    with refused(code):
        add_sums(Table(columns, {"a": "GeV", "b": "GeV", "t": ""}, {}), sums, {})


def test_rows_above_a_number_are_kept() -> None:
    table = Table({"a": np.array([0.0, 2.0, 1e-9]), "b": np.zeros(0)}, {"a": "", "b": ""}, {})
    np.testing.assert_array_equal(keep_rows(table, "a", (), 0.0).columns["a"], [2.0, 1e-9])
    with refused("data.no_row_above"):
        keep_rows(table, "a", (), 2.0)
