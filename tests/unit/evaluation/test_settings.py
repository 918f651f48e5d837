"""Distributions of the settings of a grid, against NumPy's own counts and quantiles."""

from typing import Any

import numpy as np

from nlobayes.diagnostics.weight_spread import weight_spread
from nlobayes.evaluation.calibration.pull_counts import EDGES, pull_counts
from nlobayes.evaluation.comparison.compared_settings import pulls_table, weights_table
from nlobayes.evaluation.comparison.runs import RunMetrics, runs_table
from nlobayes.types import Columns

PASSED = {"rhat_f": {"passed": True}}
FAILED = {"rhat_f": {"passed": False}}


def z_of(seed: int, sigma: float = 1.0) -> np.ndarray:
    """Pulls of 400 points, one of them far out."""
    z = np.random.default_rng(seed).normal(0, sigma, 400)
    z[0] = -11.0
    return z


def run_of(setting: str, seed: int, **changes: Any) -> RunMetrics:
    """A run whose pulls and weights follow from its seed."""
    z, weights = z_of(seed), np.random.default_rng(seed).normal(size=(2, 30, 7))
    counts = pull_counts(z, 3 * z)
    given: dict[str, Any] = {
        "values": {},
        "diagnostics": {
            "converged": True,
            "checks": PASSED,
            "weight_spread": weight_spread(weights),
        },
        "test": {"sigma_z_total": float(z.std()), "sigma_z_epistemic": float(3 * z.std())},
        "baseline": {},
        "pulls": {"total": counts["pulls_total"], "epistemic": counts["pulls_epistemic"]},
    }
    return RunMetrics(f"{setting}/s{seed}", setting, f"s{seed}", **given | changes)


def rows_of(table: Columns, **where: str) -> Columns:
    chosen = np.all([table[name] == value for name, value in where.items()], axis=0)
    return {name: column[chosen] for name, column in table.items()}


def test_pulls_beyond_the_bins_are_in_the_last_ones() -> None:
    z = np.array([-99.0, -6.0, -0.1, 0.1, 0.2, 5.99, 6.0, 7.0])
    counts = pull_counts(z, np.full(8, np.nan))
    assert (EDGES[0], EDGES[-1], len(EDGES)) == (-6.0, 6.0, 49)
    expected = np.zeros(48, dtype=int)
    expected[[0, 23, 24, 47]] = 2, 1, 2, 3
    assert counts == {"pulls_total": expected.tolist(), "pulls_epistemic": None}


def test_pulls_of_a_setting_are_those_of_its_runs_together() -> None:
    runs = [run_of("wide", 1), run_of("wide", 2), run_of("narrow", 1)]
    found = rows_of(pulls_table(runs), setting="wide", kind="epistemic")
    z = 3 * np.concatenate([z_of(1), z_of(2)])
    inside = np.abs(z) <= 6
    inner, _ = np.histogram(z[inside], np.linspace(-6, 6, 49))
    inner[0] += (z < -6).sum()
    inner[-1] += (z > 6).sum()
    np.testing.assert_array_equal(found["count"], inner)
    np.testing.assert_allclose(found["density"], inner / 800 / 0.25)
    np.testing.assert_allclose(found["high"] - found["low"], 0.25)
    sigma = 3 * (z_of(1).std() + z_of(2).std()) / 2
    np.testing.assert_allclose(found["sigma_z"], sigma)
    assert set(found["runs"].tolist()) == {2}


def test_weights_of_a_setting_are_mean_quantiles() -> None:
    """All values of all weights, and their sds over the draws of both chains."""
    table = weights_table([run_of("wide", 1), run_of("wide", 2)])
    for quantity in ("weight", "sd"):
        found = rows_of(table, quantity=quantity)
        np.testing.assert_allclose(found["share"], np.linspace(0.005, 0.995, 100))
        each = []
        for seed in (1, 2):
            draws = np.random.default_rng(seed).normal(size=(60, 7))
            values = draws.ravel() if quantity == "weight" else draws.std(axis=0)
            each.append(np.percentile(values, np.linspace(0.5, 99.5, 100)))
        np.testing.assert_allclose(found["value"], np.mean(each, axis=0))


def test_runs_that_failed_are_counted_and_approximate_ones_are_not() -> None:
    spread = weight_spread(np.ones((1, 4, 2)))
    failed: Any = {"converged": False, "checks": FAILED, "weight_spread": spread}
    approximate: Any = {"converged": None, "checks": {}, "weight_spread": spread}
    runs = [
        run_of("hmc", 1, diagnostics=failed),
        run_of("hmc", 2),
        run_of("laplace", 1, diagnostics=approximate),
    ]
    for table in (weights_table(runs), pulls_table(runs)):
        assert set(rows_of(table, setting="hmc")["not_converged"].tolist()) == {1}
        assert set(rows_of(table, setting="laplace")["not_converged"].tolist()) == {0}


def test_scores_of_train_rows_stand_beside_those_of_test_rows() -> None:
    train = {"r2_log10": 0.999, "rmse_log10": 0.01}
    table = runs_table([run_of("wide", 1, train=train), run_of("wide", 2)])
    np.testing.assert_array_equal(table["train_r2_log10"], [0.999, np.nan])
    assert "train_rmse_log10" not in table
