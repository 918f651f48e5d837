"""Tables of runs, and paired differences against hand-made numbers and SciPy's paired t test."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from scipy.stats import norm, ttest_rel

from nlobayes.evaluation.comparison.differences import (
    INTERVAL,
    PointPredictions,
    differences_table,
    estimate,
    point_differences,
    same_points,
)
from nlobayes.evaluation.comparison.runs import RunMetrics, runs_table
from tests.refusals import refused
from tests.run_results import diagnosed

PASSED = {"rhat_f": {"passed": True}, "ebfmi_min": {"passed": True}}
FAILED = {"rhat_f": {"passed": False}, "ebfmi_min": {"passed": False}}


def make_run(
    setting: str = "n4",
    replicate: str = "s1",
    *,
    test: Mapping[str, float | None] | None = None,
    values: Mapping[str, float | str] | None = None,
    **diagnostics: Any,
) -> RunMetrics:
    """A run that has converged, unless the changes state otherwise."""
    return RunMetrics(
        run=f"{setting}/{replicate}",
        setting=setting,
        replicate=replicate,
        values=values or {},
        diagnostics=diagnosed(**{"converged": True, "checks": PASSED} | diagnostics),
        test=test or {"rmse_log10": 0.03},
        baseline={"rmse_log10": 0.07},
    )


def make_runs(rmse: Mapping[str, Sequence[float]]) -> list[RunMetrics]:
    """Replicates s0, s1, ... of each setting with these errors."""
    return [
        make_run(setting, f"s{seed}", test={"rmse_log10": value})
        for setting, values in rmse.items()
        for seed, value in enumerate(values)
    ]


def row_of(columns: Mapping[str, np.ndarray], **where: str) -> dict[str, Any]:
    """The only row with these texts."""
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    (row,) = [row for row in rows if all(row[key] == value for key, value in where.items())]
    return row


def test_two_replicates_by_hand() -> None:
    """Differences 1 and 3: mean 2, standard error 1; t(0.975, 1) = 12.7062."""
    table = differences_table(make_runs({"a": [1, 1], "b": [2, 4]}))
    row = row_of(table, setting="b", reference="a", metric="rmse_log10")
    assert row["replicates"] == 2
    assert row["difference"] == pytest.approx(2)
    assert row["standard_error"] == pytest.approx(1)
    assert (row["low"], row["high"]) == pytest.approx((2 - 12.7062, 2 + 12.7062), abs=1e-4)


@pytest.mark.parametrize("replicates", [2, 3, 8])
def test_intervals_are_those_of_the_paired_t_test(replicates: int) -> None:
    rng = np.random.default_rng(replicates)
    shared = rng.normal(0, 1, replicates)
    first, second, third = (
        (shared + rng.normal(shift, 0.1, replicates)).tolist() for shift in (0, 0.3, -1)
    )
    table = differences_table(make_runs({"a": first, "b": second, "c": third}))
    for setting, values in (("b", second), ("c", third)):
        row = row_of(table, setting=setting, metric="rmse_log10")
        test = ttest_rel(values, first)
        interval = test.confidence_interval(0.95)
        assert row["difference"] / row["standard_error"] == pytest.approx(test.statistic)
        assert (row["low"], row["high"]) == pytest.approx((interval.low, interval.high))


def test_only_shared_replicates_are_paired_whatever_their_order() -> None:
    runs = [
        *make_runs({"a": [1, 2, 3]}),
        *reversed(make_runs({"b": [9, 4, 6, 100]})[1:]),
    ]
    row = row_of(differences_table(runs), setting="b", metric="rmse_log10")
    assert (row["replicates"], row["difference"]) == (2, 2.5)
    assert row["standard_error"] == pytest.approx(0.5)


@pytest.mark.parametrize(("values", "difference"), [([5.0], 4), ([], np.nan)])
def test_without_two_replicates_there_is_no_error_bar(
    values: list[float], difference: float
) -> None:
    others = make_runs({"b": values}) or [make_run("b", "s9")]
    row = row_of(differences_table([*make_runs({"a": [1, 2]}), *others]), setting="b")
    assert row["replicates"] == len(values)
    np.testing.assert_equal([row[name] for name in INTERVAL], [difference, np.nan, np.nan, np.nan])


def test_metrics_are_those_that_any_run_has() -> None:
    """An undefined score is no difference; a cost is compared per million gradients."""
    scores = {"crps": 0.02, "lppd": None, "r2_target_median": 0.9, "bias_log10": 1.0}
    cost: dict[str, Any] = {
        "ess_f": 300.0,
        "gradients_total": 2_000_000,
        "rhat_f": 1.0,
    }
    runs = [
        make_run("a", test=scores, **cost),
        make_run("b", test=scores | {"crps": None}, **cost | {"gradients_total": 1_000_000}),
    ]
    table = differences_table(runs)
    assert list(table["metric"]) == [
        "r2_target_median",
        "crps",
        "rhat_f",
        "ess_per_million_gradients",
    ]
    assert row_of(table, metric="ess_per_million_gradients")["difference"] == 150
    assert row_of(table, metric="crps")["replicates"] == 0


def test_a_replicate_counts_once() -> None:
    twins = [make_run("a"), make_run("a")]
    with refused("evaluation.replicate_twice", setting="a", replicate="s1"):
        differences_table(twins)


def test_runs_are_rows_with_settings_verdict_and_scores() -> None:
    runs = [
        make_run(
            test={"r2_log10": 0.9, "sigma_z_epistemic": None},
            values={"network.width": 4.0, "method": "hmc"},
            chains=4,
            rhat_f=None,
            divergences=0,
        ),
        make_run(
            "n8", values={"network.width": 8.0}, checks=FAILED, converged=False, divergences=3
        ),
    ]
    table = runs_table(runs)
    assert list(table)[:7] == [
        *("run", "setting", "replicate", "network.width", "method"),
        *("converged", "failed_checks"),
    ]
    assert list(table)[7:] == [
        *("chains", "draws_per_chain", "rhat_f_median", "rhat_f", "ess_f"),
        *("draws_scored", "ess_scored_median", "ess_scored_min"),
        *("acceptance_rate", "divergences", "gradients_total", "gradients_per_draw"),
        *("between_chain_variance_share", "r2_log10", "sigma_z_epistemic", "rmse_log10"),
        "baseline_rmse_log10",
    ]
    assert list(table["method"]) == ["hmc", ""]
    assert list(table["converged"]) == [True, False]
    assert list(table["failed_checks"]) == ["", "rhat_f ebfmi_min"]
    np.testing.assert_equal(table["chains"], [4, np.nan])
    np.testing.assert_equal(table["rhat_f"], [np.nan, np.nan])
    np.testing.assert_equal(table["divergences"], [0, 3])
    np.testing.assert_equal(table["r2_log10"], [0.9, np.nan])
    np.testing.assert_equal(table["baseline_rmse_log10"], [0.07, 0.07])


@pytest.mark.parametrize(
    ("stored", "checks", "converged"),
    [(True, PASSED, True), (False, PASSED, False), (True, FAILED, False)],
)
def test_convergence_needs_the_word_and_every_check(
    stored: bool, checks: dict[str, Any], converged: bool
) -> None:
    assert make_run(converged=stored, checks=checks).converged is converged


def make_points(seed: int, sd: float = 0.5) -> PointPredictions:
    """Predictions of fifty test points of one dataset, which differ by run."""
    truth = np.random.default_rng(0).normal(0, 1, 50)
    error = np.random.default_rng(seed).normal(0, sd, 50)
    return PointPredictions(np.arange(50) * 3, truth, truth + error, np.full(50, sd))


def test_points_are_paired() -> None:
    first, second = make_points(1, 0.5), make_points(2, 0.3)
    table = point_differences(first, second)
    scores = [
        {
            "squared_error": (points.truth - points.mean) ** 2,
            "absolute_error": abs(points.truth - points.mean),
            "nll_gaussian": -norm.logpdf(points.truth, points.mean, points.total_sd),
        }
        for points in (first, second)
    ]
    for metric in scores[0]:
        row, test = row_of(table, metric=metric), ttest_rel(scores[1][metric], scores[0][metric])
        interval = test.confidence_interval(0.95)
        assert row["points"] == 50
        assert row["difference"] == pytest.approx(np.mean(scores[1][metric] - scores[0][metric]))
        assert row["difference"] / row["standard_error"] == pytest.approx(test.statistic)
        assert (row["low"], row["high"]) == pytest.approx((interval.low, interval.high))


def test_without_a_predictive_sd_there_is_no_density() -> None:
    first, second = make_points(1), make_points(2)
    first.total_sd[7] = second.total_sd[7] = 0
    table = point_differences(first, second)
    assert np.isnan(row_of(table, metric="nll_gaussian")["difference"])
    assert np.isfinite(row_of(table, metric="squared_error")["high"])


@pytest.mark.parametrize("change", ["point", "truth", "fewer"])
def test_other_points_are_not_paired(change: str) -> None:
    first, other = make_points(1), make_points(2)
    if change == "fewer":
        other = PointPredictions(*(column[:40] for column in other))
    else:
        getattr(other, change)[3] += 1
    assert same_points(first, first)
    assert not same_points(first, other)
    with refused("evaluation.other_test_points", first=len(first.point), second=len(other.point)):
        point_differences(first, other)


def test_an_estimate_covers_its_mean_as_often_as_stated() -> None:
    """Binomial sd of the coverage of 2000 intervals: 0.005."""
    values = np.random.default_rng(3).normal(2, 5, (2000, 4))
    found = [estimate(row) for row in values]
    assert np.mean([one.low <= 2 <= one.high for one in found]) == pytest.approx(0.95, abs=0.02)
