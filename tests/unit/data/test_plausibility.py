"""Columns that cannot be relative errors are refused; doubtful rows are named."""

from typing import Any

import numpy as np
import pytest

from nlobayes.data.plausibility import Z_MASS_GEV, check_relative_error, doubtful_rows
from nlobayes.data.selection import Request, Selection, select
from nlobayes.data.table_files import read_table
from nlobayes.types import Table
from tests.prospino_points import PROSPINO
from tests.refusals import refused

RNG = np.random.default_rng(3)
SIGMA = 10 ** RNG.uniform(-6, 2, 200)
ERRORS = 10 ** RNG.uniform(-4, -2, 200)


def correlation_of_refused(
    code: str, errors: np.ndarray, target: np.ndarray = SIGMA, **fields: object
) -> float:
    """Assert that errors are refused, and return the correlation in the message."""
    with refused(code, where="p.csv", name="delta", **fields) as caught:
        check_relative_error(errors, target, "delta", "1", "p.csv")
    return float(caught.value.fields["correlation"])


@pytest.mark.parametrize(
    "errors",
    [
        ERRORS,
        np.zeros(200),
        np.ones(200),
        np.full(200, 1e-3),
        np.where(ERRORS > 1e-3, ERRORS, 0),
        1e-3 * (SIGMA / SIGMA.max()) ** -0.1,  # small cross sections are integrated less well
        10 ** (0.1 * np.log10(SIGMA) + RNG.normal(0, 0.3, 200) - 3),  # a correlation of 0.6
    ],
)
def test_relative_errors_pass(errors: np.ndarray) -> None:
    check_relative_error(errors, SIGMA, "delta", "1", "p.csv")
    check_relative_error(errors, -SIGMA, "delta", "", "p.csv")


def test_what_is_above_one_or_negative_is_no_relative_error() -> None:
    errors = np.where(np.arange(200) < 3, 7.5, ERRORS)
    expected = np.corrcoef(errors, SIGMA)[0, 1]
    found = correlation_of_refused("data.error_above_one", errors, count=3, total=200, extreme=7.5)
    assert found == pytest.approx(expected, rel=1e-12)
    errors = np.where(np.arange(200) < 2, -0.5, ERRORS)
    correlation_of_refused("data.error_negative", errors, count=2, total=200, extreme=-0.5)


def test_what_follows_the_target_is_no_relative_error() -> None:
    """On both scales: a tenth of the cross section, and a power of it."""
    share = SIGMA / SIGMA.max()
    assert correlation_of_refused("data.error_follows_target", share) == pytest.approx(1)
    power = 0.1 * (SIGMA / SIGMA.max()) ** 0.3 * 10 ** RNG.normal(0, 0.05, 200)
    assert correlation_of_refused("data.error_follows_logarithm", power) > 0.99


def test_the_accident_of_the_thesis_is_found() -> None:
    """PDF error and alpha_s-up cross section, taken for a cross section and its relative error."""
    mass = RNG.uniform(50, 900, 2000)
    alpha_s_up = 4000 * np.exp(-mass / 60)
    pdf_error = alpha_s_up * (0.017 + 0.043 * (mass - 50) / 850) * 10 ** RNG.normal(0, 0.02, 2000)
    assert correlation_of_refused("data.error_above_one", alpha_s_up, pdf_error) > 0.99
    small = alpha_s_up / 1e4  # also with hidden units
    assert correlation_of_refused("data.error_follows_target", small, pdf_error) > 0.99


@pytest.mark.skipif(not PROSPINO.exists(), reason=f"the public table is not at {PROSPINO}")
def test_the_columns_of_the_thesis_are_refused() -> None:
    table = read_table(PROSPINO)
    plain = table._replace(units={})  # as arrays in a pickle
    with refused("data.error_above_one", name="sigma_fb") as caught:
        request = Request(["m1"], ["pdf_uncertainty_fb"], relative_error="sigma_fb")
        select(plain, request, "t", "keep")
    assert 4000 < caught.value.fields["extreme"] < 5000
    assert caught.value.fields["correlation"] > 0.99


def table(**columns: list[float]) -> Table:
    arrays = {name: np.array(column, float) for name, column in columns.items()}
    return Table(arrays, dict.fromkeys(columns, ""), {})


def chosen(points: Table, **changes: Any) -> Selection:
    request = Request(["m1"], ["sigma"])._replace(**changes)
    return select(points, request, "p.csv")


@pytest.mark.parametrize(
    ("name", "code", "fields"),
    [
        ("sigma", "data.column_requested_twice", {}),
        ("m1", "data.column_requested_twice", {}),
        ("deltas", "data.no_column_but_close", {"meant": "delta"}),
        ("hole", "data.not_finite", {"count": 1, "total": 3, "row": 2}),
    ],
)
def test_a_relative_error_that_cannot_be_read_is_refused(
    name: str, code: str, fields: dict[str, object]
) -> None:
    points = table(m1=[1, 2, 3], sigma=[4, 5, 6], delta=[0, 0, 0], hole=[0, np.nan, 0])
    with refused(code, where="p.csv", name=name, **fields):
        chosen(points, relative_error=name)


GEV = {"m1": "GeV", "m2": "GeV"}


def doubts(units: dict[str, str], **columns: list[float]) -> dict[str, list[int]]:
    arrays = {name: np.array(column, float) for name, column in columns.items()}
    return {what: rows.tolist() for what, rows in doubtful_rows(arrays, units).items()}


def test_pairs_below_the_z_mass_are_doubted() -> None:
    half = Z_MASS_GEV / 2
    below = "below the Z mass, 91.1876 GeV"
    one = {f"|m1| + |m1| {below}": [0, 3]}
    assert doubts(GEV, m1=[1 - half, half, -half - 1, 0]) == one
    assert doubts({"m1": "TeV"}, m1=[0.0455, 0.0456, -0.0456, 0]) == one
    two = {f"|m1| + |m2| {below}": [1]}
    assert doubts(GEV, m1=[-10, 50, 100], m2=[90, -40, 1e308]) == two


def test_mixings_that_are_none_are_doubted() -> None:
    """Mixings that are rounded to some digits are accepted."""
    doubt = "mixings of neutralino 2 outside [-1, 1] or not of length 1"
    mixings: dict[str, list[float]] = {
        **{"n21": [0.6, 0.7, 1.2, 1e200], "n22": [0.8, 0.8, 0, 0], "n23": [0, 0, 0, 0]},
    }
    assert doubts({}, **mixings) == {doubt: [2, 3]}
    assert doubts({}, **mixings, n24=[0.004, 0, 0, 0]) == {doubt: [1, 2, 3]}
    assert doubts({}, n51=[7.0], n11x=[7.0]) == {}


@pytest.mark.parametrize(
    ("unit", "most"), [("pb", 2e11), ("fb", 2e14), ("nb", 2e8), ("ab", 2e17), ("GeV", np.inf)]
)
def test_more_than_all_collisions_have_is_doubtful(unit: str, most: float) -> None:
    """200 mb are 2e11 pb; no unit of energy is a cross section."""
    values = np.array([1e-9, 0.99, 1.01, -2.0, 1e290]) * min(most, 2e17)
    doubts = doubtful_rows({"sigma": values}, {"sigma": unit})
    found = [rows.tolist() for what, rows in doubts.items() if "cross section above" in what]
    assert found == ([[2, 3, 4]] if np.isfinite(most) else [])


def test_what_has_a_unit_is_no_relative_error() -> None:
    with refused("data.error_with_unit", where="p.csv", name="delta", unit="fb"):
        check_relative_error(ERRORS, SIGMA, "delta", "fb", "p.csv")
