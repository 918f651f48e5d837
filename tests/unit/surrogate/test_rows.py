"""Rows are independent: the prediction of a point is the same alone and in any company."""

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from starlette.testclient import TestClient

from nlobayes import Classifier, Surrogate
from nlobayes.data.references import completed
from nlobayes.data.simulators.simulate import Settings, scan_table
from nlobayes.service.application import application
from nlobayes.surrogate.answers import SUMMARIES
from nlobayes.surrogate.cross_section import cross_section
from nlobayes.types import SurrogateContent
from tests.unit.spectra_with_surrogates import added
from tests.unit.surrogate.conftest import make_exported
from tests.unit.surrogate.test_classifier import of_classes
from tests.unit.surrogate.test_in_jax import ENGINE, relative_to, seen_by
from tests.unit.surrogate.test_theory import with_theory

PROCESSES = {
    "pair_invariants": (1000022, 1000023),
    "chargino_neutralino_invariants": (1000023, 1000024),
    "chargino_invariants": (1000024, -1000024),
    "chargino_pair_invariants": (1000024, -1000037),
}


def of_process(name: str) -> SurrogateContent:
    """Make a surrogate of rows of the engine, relative to its NLO cross section."""
    process = PROCESSES[name]
    made = Settings(sqrt_s_tev=13.0, squark_mass_gev=3000.0, process=process)
    table, columns = scan_table(7, 80, made), [*made.reaction.columns]
    rows = np.column_stack([table.columns[column] for column in columns])
    units = {column: table.units[column] for column in columns} | {"sigma_pb": "pb"}
    whole = make_exported("conformal", seen_by=name, scan=(rows[:40], rows[40:]), units=units)
    stated = {"calculation": "nlo", "sqrt_s_tev": 13.0, "mu_over_q": 1.0, "squark_mass_gev": 3000.0}
    settings = completed({**stated, "process": [*process]}, "pb")
    if name == "pair_invariants":
        settings = completed({**stated, "pair": [1, 2]}, "pb")
    target = whole.facts["transforms"]["target"] | {"relative_to": settings}
    transforms = whole.facts["transforms"] | {"target": target}
    return whole._replace(facts=whole.facts | {"transforms": transforms})


MAKERS: dict[str, Callable[[], SurrogateContent]] = {
    "invariants": lambda: make_exported("scaled_student_t"),
    "raw, identity": lambda: make_exported("student_t", "identity", seen_by="raw"),
    "components": lambda: make_exported("conformal", components=3),
    "theory": with_theory,
    "born": lambda: seen_by(relative_to(ENGINE), "channels"),
    "column": lambda: relative_to({"column": "lo_pb", "unit": "pb"}, "lo_pb"),
    "classes": of_classes,
    **{name: lambda name=name: of_process(name) for name in PROCESSES},  # type: ignore[misc]
}


@cache
def made(kind: str) -> Surrogate | Classifier:
    return (Classifier if kind == "classes" else Surrogate)(MAKERS[kind]())


@cache
def pool(kind: str) -> tuple[np.ndarray, np.ndarray]:
    """Points that have a prediction, and points that have none."""
    surrogate = made(kind)
    rng = np.random.default_rng(3)
    rows = np.repeat([[*surrogate.typical.values()]], 60, axis=0)
    rows = rows * np.concatenate(
        [np.ones((1, rows.shape[1])), rng.uniform(0.7, 1.3, rows[1:].shape)]
    )
    bad = rows[:12].copy()
    for number, value in enumerate((math.nan, math.inf, -math.inf)):
        bad[number, number % bad.shape[1]] = value
    bad[3:5, 0] = 31.0, 9.6e9
    bad[5, 1:] = 0.0
    bad[6] = 0.0
    bad[7, -1] = 0.0
    bad[8, -1] = 1e200
    both = np.concatenate([rows, bad])
    return both[surrogate.usable(both)], both[~surrogate.usable(both)]


def answers(surrogate: Surrogate | Classifier, x: Any) -> dict[str, np.ndarray]:
    """Return what a surrogate states of points, with the points along the first axis."""
    with np.errstate(all="ignore"):
        predicted = surrogate.predict(x)
        found = {name: np.moveaxis(values, -1, 0) for name, values in predicted._asdict().items()}
        if isinstance(surrogate, Classifier):
            found |= {"probability": predicted.probability}
        else:
            found |= surrogate.errors(x)
        found |= {"distance": surrogate.distance(x)}
    return found | {"domain": surrogate.domain(x), "reasons": surrogate.reasons(x)}


def assert_same(found: dict[str, np.ndarray], expected: dict[str, np.ndarray]) -> None:
    """Numbers agree to rounding, which is that of draws in single precision.

    The distance of a train row from itself is the root of the rounding of a difference.
    """
    for name, values in expected.items():
        if values.dtype.kind == "f":
            np.testing.assert_allclose(
                found[name], values, rtol=2e-5, atol=1e-6 * (name == "distance"), err_msg=name
            )
        elif name != "reasons":
            assert found[name].tolist() == values.tolist(), name
        else:
            assert [bool(text) for text in found[name]] == [bool(text) for text in values]


@pytest.mark.parametrize("kind", MAKERS)
def test_a_row_is_the_same_alone_and_in_company(kind: str) -> None:
    surrogate, (good, bad) = made(kind), pool(kind)
    assert len(good) > 5
    assert len(bad) > 2
    rows = [*good[:6], *bad]
    alone = [answers(surrogate, [row]) for row in rows]
    for each in alone[6:]:
        assert each["domain"].tolist() == ["outside"]
        assert each["reasons"][0]
        assert all(np.isnan(each[name]).all() for name in surrogate.predict(good[:1])._fields)
    for each in alone[:6]:
        assert all(np.isfinite(each[name]).all() for name in surrogate.predict(good[:1])._fields)

    @settings(max_examples=8, deadline=None, derandomize=True)
    @given(st.lists(st.integers(0, len(rows) - 1), max_size=9))
    def in_company(chosen: list[int]) -> None:
        found = answers(surrogate, np.array([rows[place] for place in chosen]))
        assert len(found["domain"]) == len(chosen)
        if chosen:
            each = [alone[place] for place in chosen]
            assert_same(
                found, {name: np.concatenate([one[name] for one in each]) for name in found}
            )

    in_company()


@pytest.mark.by_day(1)
@pytest.mark.parametrize("kind", [kind for kind in MAKERS if kind not in ("classes", "theory")])
def test_jax_has_no_number_where_numpy_has_none(kind: str) -> None:
    """Both ways to compute with JAX: as a function, and as the engine of `predict`."""
    surrogate, (good, bad) = made(kind), pool(kind)
    assert isinstance(surrogate, Surrogate)
    engine, function = Surrogate(MAKERS[kind](), "jax"), surrogate.as_jax()
    for x in (np.concatenate([bad, good[:2]]), good[:0]):
        with np.errstate(all="ignore"):
            expected, by_engine = surrogate.predict(x), engine.predict(x)
        for found in (by_engine, function(x)):
            for name, values in expected._asdict().items():
                np.testing.assert_allclose(
                    getattr(found, name), values, rtol=1e-3, atol=1e-12, err_msg=name
                )


def test_a_reference_that_is_a_term_of_the_target_does_not_make_it_vanish() -> None:
    """Relative to a cross section on the scale `identity`, the prediction is f where that is 0."""
    surrogate = Surrogate(relative_to(ENGINE, of=make_exported("conformal", "identity")))
    point = np.array([[HIGGSINOS[name] for name in surrogate.inputs]])
    assert np.array_equal(surrogate.reference(point), [0.0])
    assert surrogate.vanishes(point).tolist() == [False]
    assert np.isfinite(surrogate.predict(point).mean).all()


def test_what_a_caller_changes_is_not_what_the_next_call_gets() -> None:
    surrogate, (good, _) = made("born"), pool("born")
    first = surrogate.distance(good)
    expected, second = first.copy(), surrogate.distance(good)
    second[:] = -1.0
    assert np.array_equal(surrogate.distance(good), expected)
    assert "outside" not in {*surrogate.domain(good[:1])}


def test_draws_of_a_row_without_a_prediction_are_nan() -> None:
    surrogate, (good, bad) = made("born"), pool("born")
    assert isinstance(surrogate, Surrogate)
    drawn = surrogate.sample(np.concatenate([bad[:1], good[:2]]))
    assert np.isnan(drawn).all(axis=0).tolist() == [True, False, False]
    assert np.array_equal(drawn[:, 1:], surrogate.sample(good[:2]))


def test_the_service_has_null_for_a_row_without_a_prediction() -> None:
    surrogate, (good, _) = made("born"), pool("born")
    assert isinstance(surrogate, Surrogate)
    text = "[[null, 0.5, 0.5, 0.5, 0.5], [31, 0.5, 0.5, 0.5, 0.5], [NaN, 1, 1e999, 0, 0]]"
    with TestClient(application(surrogate, {}, ["testserver"])) as client:
        for points, count in ((text, 3), (text[:-1] + f", {good[0].tolist()}]", 4), ("[]", 0)):
            response = client.post("/api/predict", content=f'{{"points": {points}}}')
            assert response.status_code == 200, response.text
            found = response.json()
            for name in SUMMARIES:
                assert [value is None for value in found[name]] == [True, True, True, False][:count]
            assert found["domain"][:3] == ["outside"] * min(count, 3)
            assert all(found["reasons"][:3])


HIGGSINOS = {
    **{f"m{i}": mass for i, mass in enumerate((150.0, -155.0, 900.0, 2000.0), 1)},
    **{f"n1{j}": value for j, value in enumerate((0.0, 0.0, 0.707, -0.707), 1)},
    **{f"n2{j}": value for j, value in enumerate((0.0, 0.0, -0.707, -0.707), 1)},
}
"""The first two neutralinos are exact higgsinos, which are produced together alone."""


def test_a_pair_whose_born_cross_section_vanishes_is_0_pb_and_hides_no_other() -> None:
    same, mixed = made("born"), made("pair_invariants")
    assert isinstance(same, Surrogate)
    assert isinstance(mixed, Surrogate)
    point = np.array([[HIGGSINOS[name] for name in same.inputs]])
    assert same.vanishes(point).tolist() == [True]
    assert np.isnan(same.predict(point).mean).tolist() == [True]
    nothing, other = (cross_section(one, HIGGSINOS) for one in (same, mixed))
    assert (*nothing[:4], *nothing.errors.values()) == (0, 0, 0, "inside", 0, 0, 0, 0)
    assert "vanishes" in nothing.reason
    both = added({"11": same, "12": mixed}, HIGGSINOS)
    assert both.median == pytest.approx(other.median, rel=0.02)
    assert both.domain == other.domain
    assert added({"11": same, "again": same}, HIGGSINOS).median == 0
    light = cross_section(same, {**HIGGSINOS, "m1": 31.0})
    assert math.isnan(light.median)
    assert (light.domain, light.reason[:29]) == ("outside", "no such point can be predicted"[:29])
    assert math.isnan(added({"11": same, "12": mixed}, {**HIGGSINOS, "m1": 31.0}).median)
