"""The table of error bars about several centres, beside the model's own."""

from __future__ import annotations

from typing import Any

from nlobayes.reporting.columns import Cell
from nlobayes.reporting.finished import FinishedRun
from nlobayes.reporting.run_tables import CENTRES, MOST_RUNS, further_tables
from tests.run_results import diagnosed, evaluated


def scores(rmse: float, coverage: float, lppd: float, error: float | None) -> dict[str, Any]:
    test = {"rmse_log10": rmse, "coverage_68": coverage, "coverage_95": 0.95, "lppd": lppd}
    test |= {"relative_error_p50": 3.5e-5}
    errors = error and {"rmse_log10": rmse * error, "coverage_68": error, "lppd": error}
    return {"test": {**test, "monte_carlo_error": errors}, "predictive_noise": {"family": "c"}}


def run(**more: Any) -> FinishedRun:
    stated = {"lppd": 6.851, "coverage_68": 0.999, "coverage_95": 1.0}
    errors = {"monte_carlo_error": {"lppd": 0.0042}}
    found = scores(6e-5, 0.662, 9.18, 0.02) | {
        "baseline": scores(7e-5, 0.687, 8.86, 0.1) | {"members": {"rmse_log10_test": [1.0] * 4}},
        "map": scores(9e-5, 0.67, 8.5, None),
        "stated_noise": {"family": "gaussian", "test": stated | errors},
        "rivals": {"gp": scores(4e-5, 0.67, 11.28, None), "absent": {"missing": "sklearn"}},
    }
    return FinishedRun("run", None, evaluated(**found | more), diagnosed())


def centre_rows(runs: list[FinishedRun]) -> list[dict[str, Cell]]:
    """Return the cells of the table of centres by column; none if there is no such table."""
    tables = [table for table in further_tables(runs) if table.title == CENTRES]
    titles = [column.title for table in tables for column in table.columns]
    return [dict(zip(titles, row, strict=True)) for table in tables for row in table.cells]


def test_each_centre_has_its_calibrated_bars_and_the_posterior_its_own() -> None:
    rows = centre_rows([run()])
    centres = [(row["centre"], row["error bars"]) for row in rows]
    calibrated = "calibrated: c"
    assert centres == [
        ("posterior", calibrated),
        ("posterior", "own: gaussian"),
        *((centre, calibrated) for centre in ("4 MAPs", "one MAP", "gp")),
    ]
    assert [row["log score"] for row in rows] == [
        "9.18(2)",
        "6.851(4)",
        "8.86(10)",
        "8.500",
        "11.280",
    ]
    assert [row["68 %"] for row in rows][:2] == ["66(2)%", "99.9%"]
    assert {row["median error"] for row in rows} == {"0.0035 %", ""}


def test_many_runs_and_runs_of_earlier_releases_have_no_such_table() -> None:
    assert centre_rows([run()] * MOST_RUNS)
    assert not centre_rows([run()] * (MOST_RUNS + 1))
    old = run()
    del old.evaluation["map"]
    assert not centre_rows([old])
