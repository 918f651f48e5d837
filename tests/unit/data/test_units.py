"""Units of columns: conversions within a kind, and declarations that do not contradict a file."""

import numpy as np
import pytest

from nlobayes.data.request_checks import declare_units
from nlobayes.data.units import UNITS, convert
from nlobayes.types import Table
from tests.refusals import refused


@pytest.mark.parametrize(
    ("from_unit", "to_unit", "expected"),
    [
        ("pb", "fb", 2000.0),
        ("fb", "pb", 0.002),
        ("pb", "ab", 2e6),
        ("nb", "pb", 2000.0),
        ("ab", "nb", 2e-9),
        ("TeV", "GeV", 2000.0),
        ("GeV", "GeV", 2.0),
    ],
)
def test_conversions(from_unit: str, to_unit: str, expected: float) -> None:
    """The result is exact: a power of ten is one rounding away from the decimal."""
    assert convert(np.array([2.0]), from_unit, to_unit)[0] == expected


def test_conversions_refused() -> None:
    with refused("data.unit_of_another_kind", unit="pb", requested="GeV", kind="cross section"):
        convert(np.ones(1), "pb", "GeV")
    with refused("data.unknown_unit", unit="barn", known=[*UNITS]):
        convert(np.ones(1), "pb", "barn")
    with refused("data.unknown_unit", unit=""):
        convert(np.ones(1), "", "pb")


def test_declared_units() -> None:
    columns = {"m1": np.ones(2), "n11": np.ones(2), "sigma_pb": np.ones(2)}
    table = Table(columns, {"m1": "GeV"}, {})
    declared = declare_units(table, {"sigma_pb": "pb", "m1": "GeV"}, source="p.csv")
    assert declared.units == {"m1": "GeV", "sigma_pb": "pb"}
    with refused("data.unit_declared_twice", where="p.csv", unit="GeV", declared="TeV"):
        declare_units(table, {"m1": "TeV"}, source="p.csv")
    with refused("data.no_column_but_close", name="sigma", meant="sigma_pb"):
        declare_units(table, {"sigma": "pb"}, source="p.csv")
