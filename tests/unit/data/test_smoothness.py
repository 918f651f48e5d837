"""The share of a target that polynomials leave, against cases with a known answer."""

import numpy as np
import pytest

from nlobayes.data.smoothness import MOST_ROWS, unexplained

RNG = np.random.default_rng(5)
X = RNG.uniform(-1, 1, size=(400, 3))
CUBIC = X[:, 0] ** 3 - X[:, 1] * X[:, 2] + 2.0


def test_a_cubic_is_explained_whatever_its_units() -> None:
    assert unexplained(X, CUBIC) < 1e-9
    assert unexplained(X * [1e-30, 1e5, 1.0] + [0, 1e6, 0], 1e40 * CUBIC) < 1e-6


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("size", [1e-300, 1e-200, 1e200, 1e300])
def test_no_square_overflows_or_vanishes(size: float) -> None:
    assert unexplained(X * [size, 1.0, 1.0], size * CUBIC) < 1e-6


@pytest.mark.parametrize("noise", [0.05, 0.15, 0.5])
def test_the_share_is_that_of_the_noise(noise: float) -> None:
    """In 400 rows its rms has a relative error of 4 %; leaving rows out adds 20 terms of 400."""
    sd = noise * CUBIC.std()
    observed = CUBIC + sd * RNG.standard_normal(len(X))
    assert unexplained(X, observed) == pytest.approx(sd / observed.std(), rel=0.16)


def test_left_out_residuals_are_those_of_refits() -> None:
    """One input and eight rows: two terms at most, so a straight line."""
    x, y = RNG.normal(size=8), RNG.normal(size=8)
    errors = []
    for row in range(8):
        others = np.arange(8) != row
        slope, shift = np.polyfit(x[others], y[others], 1)
        errors.append(y[row] - slope * x[row] - shift)
    expected = np.sqrt(np.mean(np.square(errors))) / y.std()
    assert unexplained(x[:, None], y) == pytest.approx(expected, rel=1e-9)


def test_what_no_polynomial_describes_is_unexplained() -> None:
    assert unexplained(X, RNG.standard_normal(len(X))) == pytest.approx(1.0, abs=0.1)
    assert unexplained(X, np.sin(40 * X[:, 0])) > 0.8


def test_repeated_constant_and_tiny_columns_have_no_effect() -> None:
    more = np.column_stack([X, X[:, 0], np.full(len(X), 7.0)])
    assert unexplained(more, CUBIC) < 1e-9


@pytest.mark.parametrize("broken", ["few rows", "nan", "inf", "constant target", "no inputs"])
def test_without_an_answer_the_share_is_one(broken: str) -> None:
    x, y = X.copy(), CUBIC.copy()
    if broken == "few rows":
        x, y = x[:11], y[:11]
    if broken in ("nan", "inf"):
        x[3, 0] = float(broken)
    if broken == "constant target":
        y[:] = 2.0
    if broken == "no inputs":
        x[:] = 1.0
    assert unexplained(x, y) == pytest.approx(1.0, abs=0.01)


def test_long_tables_are_thinned_evenly() -> None:
    """Only rows between those that are used are spoiled."""
    rows = 2 * MOST_ROWS - 1
    x = np.linspace(-1, 1, rows)[:, None]
    y = x[:, 0] ** 2
    y[1::2] = np.nan
    assert unexplained(x, y) < 1e-9
