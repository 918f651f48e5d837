"""What the numbers of a column tell: copies of the target, row numbers, times, sentinels."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlobayes.fitting.inspection import are_row_numbers, are_times, copies_of, sentinels

RNG = np.random.default_rng(5)
MASS, SQUARK = RNG.uniform(100, 900, 80), RNG.uniform(500, 3000, 80)
SIGMA = 2e7 * MASS**-2.8 * np.exp(-MASS / 400) * (1 - 100 / SQUARK)
"""A cross section that falls with one mass, and depends on another."""
FORMS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "itself": np.asarray,
    "another unit": lambda y: 1e3 * y,
    "negative": lambda y: -y,
    "shifted": lambda y: 32 + 1.8 * y,
    "rounded logarithm": lambda y: np.round(np.log10(y), 3),
    "natural logarithm": lambda y: np.log(1e3 * y),
    "binary logarithm": np.log2,
    "decibels": lambda y: 10 * np.log10(y),
    "inverse": lambda y: 1 / y,
    "root": np.sqrt,
    "square": np.square,
    "exponential": lambda y: np.exp(-y / y.max()),
}


@pytest.mark.parametrize("form", [name for name in FORMS if name != "exponential"])
def test_another_form_of_the_target_is_a_copy_whatever_its_name(form: str) -> None:
    columns = {"mass": MASS, "aux": FORMS[form](SIGMA), "squark": SQUARK}
    assert copies_of("y", SIGMA, columns) == {"aux": "repeats the target"}


@pytest.mark.parametrize("name", ["log_y", "y_rank", "sqrt(y)", "scaled y"])
def test_a_column_of_the_order_and_the_name_of_the_target_is_a_copy(name: str) -> None:
    found = copies_of("y", SIGMA, {"mass": MASS, name: np.tanh(SIGMA) ** 3})
    assert found == {name: "determines the target"}


@given(
    power=st.floats(-6, 6).filter(lambda power: abs(power) > 0.1),
    scale=st.floats(50, 5000),
    rows=st.integers(6, 60),
)
def test_the_one_input_of_a_smooth_function_is_kept(power: float, scale: float, rows: int) -> None:
    """It orders the rows as the target does, even if another input repeats it or is chance."""
    mass = np.linspace(100, 900, rows)
    y = mass**power * np.exp(-mass / scale)
    others = {"twice": 2 * mass, "flag": np.arange(rows) % 2.0}
    for columns in ({"mass": mass}, {"mass": mass, **others}):
        assert not copies_of("y", y, columns)


def test_an_input_that_explains_nearly_all_is_kept() -> None:
    """Masses of a wedge: one orders the rows, the other is close to it and has an effect."""
    first = np.linspace(100, 400, 40)
    second = first + RNG.uniform(0.5, 4, 40)
    y = second**-4.0 * (1 - 1e-4 * first)
    assert not copies_of("xsec_pb", y, {"m_N1": first, "m_C1": second})


COUNT = np.arange(20.0)


@pytest.mark.parametrize(
    ("name", "values", "found"),
    [
        ("Unnamed: 0", COUNT, True),
        ("unnamed_1", RNG.permutation(COUNT) * 3, True),
        ("__index_level_0__", COUNT * 7 + 2, True),
        ("index", COUNT, True),
        ("ID", COUNT + 1, True),
        ("row_id", RNG.permutation(COUNT), True),
        ("event number", COUNT * 5, True),
        ("index", RNG.permutation(COUNT) * 2, False),
        ("index", COUNT / 2, False),
        ("id", COUNT // 2, False),
        ("mass", COUNT, False),
        ("year", 1947 + COUNT, False),
        ("n", COUNT, False),
    ],
)
def test_row_numbers_have_a_name_and_count(name: str, values: np.ndarray, found: bool) -> None:
    assert are_row_numbers(name, values) is found


@pytest.mark.parametrize(
    ("name", "values", "found"),
    [
        ("time", 1.7e9 + 3600 * COUNT, True),
        ("timestamp_ms", 1.7e12 + RNG.permutation(COUNT), True),
        ("unix", 1.2e18 + 1e9 * COUNT, True),
        ("time", COUNT, False),
        ("events", 1.7e9 + COUNT, False),
        ("date", 20240101 + COUNT, False),
    ],
)
def test_times_have_a_name_and_the_size_of_epochs(
    name: str, values: np.ndarray, found: bool
) -> None:
    assert are_times(name, values) is found


@pytest.mark.parametrize(
    ("wrong", "rows"),
    [
        ([-999], 1),
        ([-1], 3),
        ([-1, -999], 3),
        ([9e99], 1),
        ([1e30], 1),
        ([1e6, 1e6], 1),
        ([-99], 8),
    ],
)
def test_numbers_that_stand_for_failures_are_marked(wrong: list[float], rows: int) -> None:
    """Of a column of positive numbers over decades, the marked rows are exactly the wrong ones."""
    values = np.append(SIGMA, np.repeat(wrong, rows))
    assert np.array_equal(np.flatnonzero(sentinels(values)), np.arange(80, len(values)))


@pytest.mark.parametrize(
    "values",
    [
        SIGMA,
        10 ** np.linspace(-5, 4, 30),
        np.append(SIGMA, [9, 99, 999]),
        np.where(COUNT < 12, 0.0, COUNT),
        RNG.normal(size=200).round(1),
        np.array([0.0, 1.0] * 20),
        np.array([-1.0, 0.0, 1.0] * 9),
        np.append(MASS, np.full(20, -364.1)),
        np.repeat([1.0, 2, 3, 4, 5, 6, 7, 8, 24], 15),
        np.full(5, -999.0),
    ],
)
def test_ordinary_numbers_are_not_marked(values: np.ndarray) -> None:
    assert not sentinels(values).any()
