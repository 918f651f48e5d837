"""The tables behind the figures: their columns, their lengths, and which cases they pick."""

from __future__ import annotations

import numpy as np
import pytest

from nlobayes.assessment import tables
from nlobayes.assessment.autocorrelation import autocorrelation
from nlobayes.assessment.convergence import ess_bulk, ess_tail, rhat
from nlobayes.assessment.noise import make_noise, predictive_moments
from nlobayes.data import splits

NOISE = make_noise("gaussian", 0.02)
COUNTS = (50, 20, 101)
DRAWS = 30


@pytest.fixture(scope="module")
def rows() -> tables.Rows:
    """Rows of three splits, mixed, and some of none."""
    rng = np.random.default_rng(3)
    split = rng.permutation(np.repeat([0, 1, 2, -1], [*COUNTS, 9]))
    return tables.Rows(split, rng.uniform(-4, 1, len(split)), rng.uniform(50, 1000, len(split)))


@pytest.fixture(scope="module")
def draws(rows: tables.Rows) -> np.ndarray:
    """Predictions (sample, point) whose errors differ from point to point."""
    rng = np.random.default_rng(4)
    centre = rows.observed + rng.normal(0, 0.05, len(rows.observed))
    return centre + rng.normal(0, 0.01, (DRAWS, len(centre)))


def lengths(table: tables.Columns) -> int:
    """The one length of all columns."""
    found = {name: len(column) for name, column in table.items()}
    assert len(set(found.values())) == 1, found
    return next(iter(found.values()))


def test_splits_have_the_names_of_their_labels() -> None:
    assert tables.SPLITS == splits.SPLITS


@pytest.mark.parametrize(
    ("drawn", "step"), [(1, 1), (499, 1), (500, 1), (501, 2), (999, 2), (1000, 2), (1001, 3)]
)
def test_a_trace_has_at_most_500_draws_of_each_chain(drawn: int, step: int) -> None:
    values = np.arange(2.0 * drawn).reshape(2, drawn)
    table = tables.trace(values, noise=10 * values)
    assert [*table] == ["chain", "draw", "log_density", "noise"]
    kept = np.arange(0, drawn, step)
    assert len(kept) <= 500
    assert lengths(table) == 2 * len(kept)
    np.testing.assert_array_equal(table["draw"], np.tile(kept, 2))
    np.testing.assert_array_equal(table["log_density"], values[table["chain"], table["draw"]])
    np.testing.assert_array_equal(table["noise"], 10 * table["log_density"])


def test_a_fixed_noise_is_missing_in_the_trace() -> None:
    table = tables.trace(np.zeros((2, 10)), noise=None)
    assert np.isnan(table["noise"]).all()
    assert lengths(table) == 20


def test_convergence_is_tabulated_per_reference_point() -> None:
    function = np.random.default_rng(1).normal(size=(4, 50, 7))
    table = tables.per_point(function)
    assert [*table] == ["reference_point", "rhat", "ess_bulk", "ess_tail"]
    assert lengths(table) == 7
    np.testing.assert_array_equal(table["rhat"], rhat(function))
    np.testing.assert_array_equal(table["ess_bulk"], ess_bulk(function))
    np.testing.assert_array_equal(table["ess_tail"], ess_tail(function))


@pytest.mark.parametrize(("drawn", "lags"), [(20, 20), (100, 100), (250, 100)])
def test_correlations_are_tabulated_over_reference_points(drawn: int, lags: int) -> None:
    rng = np.random.default_rng(2)
    function, density = rng.normal(size=(3, drawn, 11)), rng.normal(size=(3, drawn))
    table = tables.correlations(function, density)
    assert [*table] == ["lag", "f_mean", "f_p10", "f_p90", "log_density"]
    assert lengths(table) == lags
    assert table["f_mean"][0] == table["f_p10"][0] == table["log_density"][0] == 1
    ordered = np.sort(autocorrelation(function)[:lags], axis=1)
    np.testing.assert_allclose(table["f_mean"], ordered.mean(axis=1))
    np.testing.assert_allclose(table["f_p10"], ordered[:, 1])  # the second of eleven
    np.testing.assert_allclose(table["f_p90"], ordered[:, 9])
    np.testing.assert_allclose(table["log_density"], autocorrelation(density)[:lags])


def test_losses_of_chains_of_any_length_follow_each_other() -> None:
    losses, errors = [np.array([3.0, 2.0, 1.0]), np.array([5.0])], [np.arange(3.0), np.ones(1)]
    table = tables.losses(losses, errors)
    assert {name: column.tolist() for name, column in table.items()} == {
        "chain": [0, 0, 0, 1],
        "epoch": [1, 2, 3, 1],
        "train_loss": [3.0, 2.0, 1.0, 5.0],
        "validation_rmse": [0.0, 1.0, 2.0, 1.0],
    }


def test_every_point_of_every_split_is_predicted_once(rows: tables.Rows, draws: np.ndarray) -> None:
    table = tables.predictions(draws, rows, NOISE)
    assert lengths(table) == sum(COUNTS)
    for label, (name, count) in enumerate(zip(tables.SPLITS, COUNTS, strict=True)):
        points = table["point"][table["split"] == name]
        assert len(points) == count
        np.testing.assert_array_equal(points, np.flatnonzero(rows.split == label))
    points = table["point"]
    np.testing.assert_array_equal(table["mass_gev"], rows.mass_gev[points])
    np.testing.assert_array_equal(table["target_log10"], rows.observed[points])
    np.testing.assert_allclose(table["target_pb"], 10 ** rows.observed[points])
    np.testing.assert_allclose(table["mean_log10"], draws[:, points].mean(axis=0))
    np.testing.assert_allclose(table["median_pb"], 10 ** np.median(draws[:, points], axis=0))
    np.testing.assert_allclose(table["mean_pb"], (10 ** draws[:, points]).mean(axis=0))
    total = np.hypot(draws[:, points].std(axis=0), 0.02)
    np.testing.assert_allclose(table["total_sd_log10"], total)
    residual = rows.observed[points] - draws[:, points].mean(axis=0)
    np.testing.assert_allclose(table["z_total"], residual / total)


def test_coverage_is_tabulated_for_every_split(rows: tables.Rows, draws: np.ndarray) -> None:
    table = tables.coverage(draws, rows, NOISE)
    assert lengths(table) == 15
    assert table["split"].tolist() == [name for name in tables.SPLITS for _ in range(5)]
    assert table["k"].tolist() == [1, 2, 3, 4, 5] * 3
    moments = predictive_moments(draws, NOISE)
    for row in range(15):
        points = rows.split == tables.SPLITS.index(table["split"][row])
        within = np.abs(moments.mean - rows.observed) <= table["k"][row] * moments.total_sd
        assert table["total"][row] == pytest.approx(within[points].mean())


def test_cases_are_the_median_and_the_99_percent_residual_of_test(
    rows: tables.Rows, draws: np.ndarray
) -> None:
    """101 test points: 50 residuals lie below the good one, 99 below the bad one."""
    table = tables.cases(draws, rows, NOISE, np.random.default_rng(0))
    assert lengths(table) == 2 * tables.CASE_DRAWS
    test = np.flatnonzero(rows.split == 2)
    residual = np.abs(draws[:, test].mean(axis=0) - rows.observed[test])
    for name, below in (("good", 50), ("bad", 99)):
        case = {column: values[table["case"] == name] for column, values in table.items()}
        assert lengths(case) == tables.CASE_DRAWS
        (point,) = set(case["point"].tolist())
        assert int((residual < residual[test == point]).sum()) == below
        assert set(case["target_log10"].tolist()) == {rows.observed[point]}
        assert case["mean_log10"][0] == pytest.approx(draws[:, point].mean())
        assert case["total_sd_log10"][0] == pytest.approx(np.hypot(draws[:, point].std(), 0.02))


@pytest.mark.statistical
def test_draws_of_a_case_spread_as_its_total_uncertainty(
    rows: tables.Rows, draws: np.ndarray
) -> None:
    """2000 draws: the mean to 5 standard errors, the sd to 10 %, six of its own errors."""
    table = tables.cases(draws, rows, NOISE, np.random.default_rng(1))
    for name in ("good", "bad"):
        case = {column: values[table["case"] == name] for column, values in table.items()}
        mean, total_sd = case["mean_log10"][0], case["total_sd_log10"][0]
        assert case["draw_log10"].mean() == pytest.approx(mean, abs=5 * total_sd / np.sqrt(2000))
        assert case["draw_log10"].std() == pytest.approx(total_sd, rel=0.1)


def test_cases_follow_from_their_seed(rows: tables.Rows, draws: np.ndarray) -> None:
    one, two, other = (
        tables.cases(draws, rows, NOISE, np.random.default_rng(seed)) for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(one["draw_log10"], two["draw_log10"])
    assert (one["draw_log10"] != other["draw_log10"]).all()
    np.testing.assert_array_equal(one["point"], other["point"])
