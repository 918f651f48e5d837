"""Designs in declared ranges: their margins, constraints, spheres and what they refuse."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from pydantic import TypeAdapter, ValidationError
from scipy import stats

from nlobayes.designs import DESIGNS, Design
from nlobayes.designs._constraints import parse
from nlobayes.errors import InputError

RANGES = {
    "m1": {"low": 100, "high": 2000, "unit": "GeV"},
    "m2": {"low": 1, "high": 100, "scale": "log"},
}
KINDS = ["sobol", "latin_hypercube"]


def design(kind: str = "sobol", **settings: Any) -> Design:
    given = {"kind": kind, "points": 256, "ranges": RANGES, **settings}
    return TypeAdapter(Design).validate_python(given)


def refused(**settings: Any) -> InputError:
    with pytest.raises(ValidationError) as caught:
        design(**settings)
    error = caught.value.errors()[0]["ctx"]["error"]
    assert isinstance(error, InputError)
    assert len(str(error).splitlines()) == 1
    return error


@pytest.mark.parametrize("kind", KINDS)
def test_each_part_of_a_range_has_one_point(kind: str) -> None:
    points = design(kind).compute()
    assert [*points] == ["m1", "m2"]
    uniform = (points["m1"] - 100) / 1900, np.log(points["m2"]) / np.log(100)
    for one in uniform:  # 256 Sobol points have one in each of 256 parts as well
        assert sorted(np.floor(256 * one)) == [*range(256)]


def test_facts_of_a_design_are_known_without_its_points() -> None:
    of = design(unit_rows=[["a", "b", "c"]])
    assert of.rows == 256
    assert of.columns == ("m1", "m2", "a", "b", "c")
    assert of.units == {"m1": "GeV", "a": "1", "b": "1", "c": "1"}
    assert of.given is None


@pytest.mark.parametrize("kind", KINDS)
def test_constraints_hold_and_the_rest_stays_uniform(kind: str) -> None:
    ranges = {name: {"low": 0, "high": 1} for name in "xyz"}
    points = design(kind, points=2000, ranges=ranges, constraints=["x + 0.2 < y"]).compute()
    assert len(points["x"]) == 2000
    assert (points["x"] + 0.2 < points["y"]).all()
    assert stats.kstest(points["z"], "uniform").pvalue > 0.01
    # y - 0.2 has the density 2 t / 0.64 on [0, 0.8] in the triangle: a distribution t^2 / 0.64
    found = stats.kstest(points["y"] - 0.2, lambda t: np.clip(t, 0, 0.8) ** 2 / 0.64)
    assert found.pvalue > 0.01


@pytest.mark.parametrize("kind", KINDS)
def test_rows_of_unit_length_are_uniform_on_the_sphere(kind: str) -> None:
    points = design(kind, points=4096, ranges={}, unit_rows=[["a", "b", "c"]]).compute()
    row = np.array([*points.values()])
    np.testing.assert_allclose(np.square(row).sum(axis=0), 1, rtol=1e-12)
    for one in row:  # a coordinate on the sphere in three dimensions is uniform on [-1, 1]
        assert stats.kstest(one, stats.uniform(-1, 2).cdf).pvalue > 0.01


def test_random_points_begin_with_those_of_fewer_and_differ_from_the_design() -> None:
    of = design(points=8, constraints=["m2 < m1"])
    few, many = of.random(10, seed=3), of.random(1000, seed=3)
    for name in few:
        np.testing.assert_array_equal(few[name], many[name][:10])
    assert stats.kstest(many["m1"], stats.uniform(100, 1900).cdf).pvalue > 0.01
    assert not {*of.compute()["m1"]} & {*many["m1"]}


def test_a_longer_sobol_design_begins_with_the_same_points() -> None:
    short, long = (design(points=points).compute()["m1"] for points in (37, 300))
    np.testing.assert_array_equal(short, long[:37])


def test_a_region_without_points_is_one_line() -> None:
    for kind in KINDS:
        for constraints in (["m1 < 99"], ["m1 < 100.01"]):
            with pytest.raises(InputError) as caught:
                design(kind, constraints=constraints).compute()
            assert caught.value.code == "designs.empty_region"
    with pytest.raises(InputError):
        design(constraints=["m1 < 99"]).random(1, seed=0)


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("x < y", [True, False]),
        ("2 * x + 1 <= y * 2 - 1", [True, False]),
        ("-x > -y", [True, False]),
        ("0 < x < y < 10", [True, False]),
        ("x - x + y >= 3", [True, False]),
        ("(x + y) * 2 > 9", [False, True]),
    ],
)
def test_constraints_are_sums_that_are_compared(text: str, holds: list[bool]) -> None:
    points = {"x": np.array([1.0, 4.0]), "y": np.array([3.0, 2.0])}
    assert parse(text).holds(points).tolist() == holds


@pytest.mark.parametrize(
    "text",
    [
        "",
        "m1",
        "m1 == m2",
        "m1 * m2 < 3",
        "1 < 2",
        "m1 < abs(m2)",
        "m1 < 1e999",
        "m1 < m2 and m2 < 3",
        "__import__('os').system('true') < m1",
        "m1 < True",
        "m1 <" + "(" * 300 + "m2",
        "m1 < " + "+m2" * 300,
        "m1 < 2j",
    ],
)
def test_other_texts_are_no_constraints(text: str) -> None:
    assert refused(constraints=[text]).code == "designs.no_constraint"


@pytest.mark.parametrize(
    ("settings", "code"),
    [
        ({"ranges": {"m1": {"low": 2, "high": 2}}}, "designs.range"),
        ({"ranges": {"m1": {"low": 0, "high": 2, "scale": "log"}}}, "designs.log_range"),
        ({"ranges": {}}, "designs.no_columns"),
        ({"ranges": {"m 1": {"low": 0, "high": 2}}}, "designs.name"),
        ({"unit_rows": [["m1", "n"]]}, "designs.column_twice"),
        ({"constraints": ["m1 < m3"]}, "designs.constraint_column"),
    ],
)
def test_a_design_that_is_none_is_one_line(settings: dict[str, Any], code: str) -> None:
    assert refused(**settings).code == code


def test_the_kinds_are_the_files() -> None:
    assert [*DESIGNS] == ["latin_hypercube", "list", "pool", "sobol"]
