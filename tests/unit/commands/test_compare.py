"""Comparison of runs in terminal and files: scores beside convergence, ranking by replicates."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import typer
from typer.testing import CliRunner, Result

from nlobayes.commands.pipeline.compare import compare
from nlobayes.extras import needed
from nlobayes.study.comparison import ComparedRun, CompareJob
from tests.refusals import refused

RUNS = ("made/n4/s1", "made/n4/s2", "made/n8/s1", "made/n8/s2")
SCORES = {
    "rmse_log10": 0.03,
    "r2_log10": 0.999,
    "rmse_target": 2.5e-6,
    "r2_target_median": 0.98,
    "coverage_68": 0.7,
    "coverage_95": 0.96,
    "sigma_z_total": 0.9,
}
LEARNED = {"target": ["sigma_pb"], "unit": "pb", "scale": "log10", "train": "abc"}
RED = "\x1b[1;31m"

Compare = Callable[..., Result]


def write_run(
    results: Path,
    run: str,
    *,
    scores: dict[str, Any] | None = None,
    effective: float = 88.2,
    **changes: Any,
) -> None:
    """Write the scores and the diagnostics of a run that has converged."""
    folder = results / "metrics" / run
    baseline = {"test": SCORES | {"rmse_log10": 0.07}, "members": {"rmse_test": [0.04, 0.05]}}
    evaluation = {"test": SCORES | (scores or {}), "baseline": baseline, "learned": LEARNED}
    evaluation["scored_draws"] = {"ess_scored_median": 95.0, "ess_scored_min": effective}
    diagnostics = {
        "converged": True,
        "rhat_f_median": 1.001,
        "rhat_f": 1.007,
        "ess_f": 330.2,
        "divergences": 0,
        "gradients_total": 1_000_000,
        "tightness": 1e5,
        "checks": {"rhat_f": {"passed": True}, "ebfmi_min": {"passed": True}},
    } | changes
    folder.mkdir(parents=True)
    (folder / "evaluation.json").write_text(json.dumps(evaluation))
    (folder / "diagnostics.json").write_text(json.dumps(diagnostics))


def write_predictions(results: Path, run: str, error: float) -> None:
    """Write predictions of three test points, and of one train row that does not count."""
    columns = {
        "split": ["train", "test", "test", "test"],
        "point": [0, 1, 2, 3],
        "truth": [0.0, 1.0, 2.0, 3.0],
        "mean": [9.0, 1.0 + error, 2.0 - error, 3.0 + 2 * error],
        "total_sd": [0.1] * 4,
    }
    (results / "plots" / run).mkdir(parents=True)
    pd.DataFrame(columns).to_csv(results / "plots" / run / "predictions.csv", index=False)


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """Two settings with two replicates each; the second is better by 0.01 and by 0.02 dex."""
    for run, rmse in zip(RUNS, (0.03, 0.05, 0.02, 0.03), strict=True):
        write_run(tmp_path, run, scores={"rmse_log10": rmse})
    return tmp_path


@pytest.fixture
def compare_runs(results: Path) -> Compare:
    """Run the command as a command line with only this command."""
    app = typer.Typer(add_completion=False)
    app.command()(compare)

    def run_verb(*words: str | Path, **environment: str) -> Result:
        command = [*map(str, words), "--results", str(results)]
        return CliRunner().invoke(app, command, env=environment, catch_exceptions=False)

    return run_verb


def rows(printed: str) -> list[list[str]]:
    """Return the cells of every printed row; a long verdict continues in the next line."""
    found: list[list[str]] = []
    for line in filter(lambda line: line.startswith("│"), printed.splitlines()):
        cells = [cell.strip() for cell in line.strip("│").split("│")]
        if cells[0]:
            found.append(cells)
        else:
            found[-1] = [" ".join(both).strip() for both in zip(found[-1], cells, strict=True)]
    return found


def specification(*runs: tuple[str, str, str, float]) -> str:
    """A grid that scans the width of a network."""
    compared = tuple(
        ComparedRun(run=run, setting=setting, replicate=replicate, values={"network.width": width})
        for run, setting, replicate, width in runs
    )
    return CompareJob(runs=compared).model_dump_json()


def test_every_run_is_shown_with_its_scores_and_its_convergence(compare_runs: Compare) -> None:
    done = compare_runs(*RUNS)
    assert done.exit_code == 0
    shown = rows(done.output)[:4]
    assert [row[0] for row in shown] == [*RUNS]
    assert shown[0][1:] == [
        *("0.03", "0.07", "0.9990", "0.700", "0.960", "-", "0.900"),
        *("1.001 / 1.007", "95 / 88", "0", "1e+05", "yes"),
    ]


def test_classes_are_compared_by_accuracy(compare_runs: Compare, results: Path) -> None:
    """The second of two runs is right at two more points of a hundred."""
    runs = ("digits/n4/s1", "digits/n8/s1")
    for run, right in zip(runs, (0.92, 0.94), strict=True):
        write_run(results, run)
        test = {"accuracy": right, "lppd": -0.25, "ece": 0.02}
        evaluation = {"test": test, "baseline": {"test": test | {"accuracy": 0.9}}}
        (results / "metrics" / run / "evaluation.json").write_text(json.dumps(evaluation))
    done = compare_runs(*runs)
    shown = rows(done.output)
    assert shown[0][:4] == ["digits/n4/s1", "0.92", "0.9", "-0.2500"]
    (difference,) = [row for row in shown if row[1] == "accuracy"]
    assert difference[3] == "+0.02"


def test_differences_are_paired_over_seeds(compare_runs: Compare) -> None:
    """Differences -0.01 and -0.02: -0.015 ± 0.005, times t(0.975, 1) = 12.7062."""
    done = compare_runs(*RUNS)
    (row,) = [row for row in rows(done.output) if row[1] == "rmse_log10"]
    assert row == ["made/n8", "rmse_log10", "2", "-0.015", "+0.005", "-0.07853", "+0.04853", "-"]
    assert "Paired differences to made/n4" in done.output
    assert "no ranking" not in done.output


def test_one_replicate_ranks_nothing(compare_runs: Compare) -> None:
    done = compare_runs(RUNS[0], RUNS[2])
    (row,) = [row for row in rows(done.output) if row[1] == "rmse_log10"]
    assert row == ["made/n8", "rmse_log10", "1", "-0.01", "-", "-", "-", "-"]
    assert "Without a second replicate there is no error bar and no ranking." in done.output


def test_seeds_of_one_setting_have_no_differences(compare_runs: Compare) -> None:
    done = compare_runs(*RUNS[:2])
    assert [row[0] for row in rows(done.output)] == [*RUNS[:2]]
    assert "Paired differences" not in done.output


def test_scores_and_their_differences_have_monte_carlo_errors(
    compare_runs: Compare, results: Path, tmp_path: Path
) -> None:
    """Of the difference of one replicate, that of both: 0.003 and 0.004 together are 0.005."""
    for run, error in ((RUNS[0], 0.003), (RUNS[2], 0.004)):
        path = results / "metrics" / run / "evaluation.json"
        found = json.loads(path.read_text())
        found["test"]["monte_carlo_error"] = {"rmse_log10": error, "coverage_95": None}
        path.write_text(json.dumps(found))
    done = compare_runs(RUNS[0], RUNS[2], "--out", tmp_path)
    assert [row[1] for row in rows(done.output)[:2]] == ["0.030(3)", "0.020(4)"]
    (row,) = [row for row in rows(done.output) if row[1] == "rmse_log10"]
    assert row[-1] == "0.005"
    assert "| 0.030(3) |" in (tmp_path / "table.md").read_text()
    table = pd.read_csv(tmp_path / "runs.csv")
    assert table["rmse_log10_monte_carlo_error"].tolist() == [0.003, 0.004]
    assert "monte_carlo_error" not in table


def test_what_has_not_converged_is_red_wherever_it_is_shown(
    compare_runs: Compare, results: Path
) -> None:
    checks = {"rhat_f": {"passed": False}, "ebfmi_min": {"passed": False}}
    write_run(results, "made/n2/s1", converged=False, checks=checks, rhat_f_median=None)
    plain = compare_runs("made/n2/s1", *RUNS)
    first, second, *_ = rows(plain.output)
    assert first[8] == "- / 1.007"
    assert first[-1] == "NO (rhat_f, ebfmi_min)"
    assert second[-1] == "yes"
    assert "Paired differences to made/n2 (NOT CONVERGED)" in plain.output
    assert "\x1b" not in plain.output

    colours = {"FORCE_COLOR": "1", "COLUMNS": "250", "TERM": "xterm-256color"}
    shown = compare_runs(*RUNS, "made/n2/s1", **colours).output
    assert f"{RED}NO (rhat_f, ebfmi_min)" in shown
    assert f"{RED}made/n2 (NOT CONVERGED)" in shown
    assert f"{RED}made/n8" not in shown
    assert f"{RED}yes" not in shown


def test_runs_without_log10_are_compared_in_target_space(
    compare_runs: Compare, results: Path
) -> None:
    """One column never mixes two scales."""
    wine = {key: value for key, value in SCORES.items() if "log10" not in key}
    write_run(results, "wine/n4/s1")
    path = results / "metrics/wine/n4/s1/evaluation.json"
    path.write_text(json.dumps({"test": wine, "baseline": {"test": wine}}))
    done = compare_runs("wine/n4/s1", RUNS[0])
    assert [row[1:4] for row in rows(done.output)[:2]] == [["2.5e-06", "2.5e-06", "0.9800"]] * 2
    assert "dex" not in done.output


def test_two_runs_on_the_same_points_are_paired_over_points(
    compare_runs: Compare, results: Path
) -> None:
    """Absolute errors 0.1, 0.1, 0.2 and twice that: 0.1333 ± 0.0333."""
    write_predictions(results, RUNS[0], 0.1)
    write_predictions(results, RUNS[2], 0.2)
    done = compare_runs(RUNS[0], RUNS[2])
    (row,) = [row for row in rows(done.output) if row[0] == "absolute_error"]
    assert row[:3] == ["absolute_error", "+0.1333", "+0.03333"]
    assert "Second run minus first, paired over 3 points" in done.output
    assert "paired over" not in compare_runs(*RUNS).output


def test_other_points_and_missing_points_are_reported(compare_runs: Compare, results: Path) -> None:
    write_predictions(results, RUNS[0], 0.1)
    assert "is missing: no differences paired over points" in compare_runs(RUNS[0], RUNS[2]).output
    write_predictions(results, RUNS[2], 0.2)
    path = results / "plots" / RUNS[2] / "predictions.csv"
    pd.read_csv(path).query("point != 3").to_csv(path, index=False)
    assert "different test points: no differences" in compare_runs(RUNS[0], RUNS[2]).output
    path.write_text("split,point\ntest,1\n")
    with refused("commands.lacks_columns", path=path, columns=["truth", "mean", "total_sd"]):
        compare_runs(RUNS[0], RUNS[2])


def test_a_grid_is_compared_by_its_settings(
    compare_runs: Compare, results: Path, tmp_path: Path
) -> None:
    spec = specification(
        *((run, "narrow", f"s{n}", 4.0) for n, run in enumerate(RUNS[:2])),
        *((run, "wide", f"s{n}", 8.0) for n, run in enumerate(RUNS[2:])),
    )
    out = tmp_path / "out"
    assert compare_runs("--spec", spec, "--out", out).exit_code == 0
    runs, differences = (pd.read_csv(out / f"{name}.csv") for name in ("runs", "differences"))
    assert list(runs.columns[:6]) == [
        *("run", "setting", "replicate", "network.width", "converged", "failed_checks")
    ]
    assert list(runs["run"]) == [*RUNS]
    assert list(runs["setting"]) == ["narrow", "narrow", "wide", "wide"]
    np.testing.assert_array_equal(runs["network.width"], [4, 4, 8, 8])
    row = differences.set_index("metric").loc["rmse_log10"]
    assert (row["setting"], row["reference"], row["replicates"]) == ("wide", "narrow", 2)
    assert row["difference"] == pytest.approx(-0.015)
    assert (out / "scanned.csv").read_text() == "along,series,varied\nnetwork.width,,\n"
    assert sorted(path.name for path in out.iterdir()) == [
        *("differences.csv", "pulls_by_setting.csv", "runs.csv", "scanned.csv", "table.md"),
        "weight_spread.csv",
    ]


def test_a_grid_has_the_pulls_and_the_weights_of_its_settings(
    compare_runs: Compare, results: Path, tmp_path: Path
) -> None:
    """From scores and diagnostics alone: no predictions, no posterior."""
    counts = [0] * 23 + [30, 10] + [0] * 23
    spread = {"weight": [-1.0, 1.0], "sd": [0.1, 0.3]}
    runs = ("grid/n4/s1", "grid/n8/s1")
    scores = {"pulls_total": counts, "pulls_epistemic": None}
    for run in runs:
        write_run(results, run, scores=scores, weight_spread=spread)
    spec = specification((runs[0], "narrow", "s1", 4.0), (runs[1], "wide", "s1", 8.0))
    assert compare_runs("--spec", spec, "--out", tmp_path / "out").exit_code == 0
    pulls = pd.read_csv(tmp_path / "out/pulls_by_setting.csv")
    assert [*pulls["setting"].unique()] == ["narrow", "wide"]
    assert set(pulls["kind"]) == {"total"}
    drawn = pulls[(pulls["setting"] == "wide") & (pulls["count"] > 0)]
    np.testing.assert_allclose(drawn["density"], [3.0, 1.0])
    np.testing.assert_allclose(drawn[["low", "high"]], [[-0.25, 0.0], [0.0, 0.25]])
    assert set(pulls["sigma_z"]) == {SCORES["sigma_z_total"]}
    weights = pd.read_csv(tmp_path / "out/weight_spread.csv")
    wide = weights[(weights["setting"] == "wide") & (weights["quantity"] == "sd")]
    np.testing.assert_allclose(wide[["share", "value"]], [[0.25, 0.1], [0.75, 0.3]])


def test_the_table_has_the_worst_convergence_and_the_mean_scores(
    compare_runs: Compare, results: Path, tmp_path: Path
) -> None:
    checks = {"rhat_f": {"passed": False}, "ebfmi_min": {"passed": True}}
    changes: dict[str, Any] = {"checks": checks, "rhat_f": 1.4, "divergences": 3}
    changes |= {"effective": 12.0, "scores": {"rmse_log10": 0.04}}
    write_run(results, "made/n8/s3", converged=False, **changes)
    write_run(results, "made/n9/s1", scores={"sigma_z_total": None})
    compare_runs(*RUNS, "made/n8/s3", "made/n9/s1", "--out", tmp_path)
    head, rule, *lines = (tmp_path / "table.md").read_text().splitlines()
    cells = [re.split(r" \| ", line.strip("| ")) for line in (head, rule, *lines)]
    assert {len(row) for row in cells} == {15}
    n4, n8, n9 = (dict(zip(cells[0], row, strict=True)) for row in cells[2:])
    assert n4["setting"] == "made/n4"
    assert n4["replicates"] == "2"
    assert n4["test RMSE dex"] == "0.04 ± 0.01"
    assert n4["converged"] == "yes"
    assert n8["R-hat f med / max"] == "1.001 / 1.400"
    assert n8["ESS scored med / min"] == "95 / 12"
    assert n8["divergences"] == "3"
    assert n8["test RMSE dex"] == "0.03 ± 0.0058"
    assert n8["converged"] == "**NO in 1 of 3 (rhat_f)**"
    assert n9["test RMSE dex"] == "0.03"
    assert n9["sigma_z"] == "-"
    assert n9["baseline RMSE dex"] == "0.07"


LOO = [-1.0, -1.5, -2.0, -0.5]
STATED = {"family": "gaussian", "test": {"lppd": 0.7, "coverage_68": 0.8, "coverage_95": 0.99}}


def give_loo(
    results: Path, run: str, rows: list[float], *, k: float | None = 0.4, stated: bool = True
) -> None:
    """Add the LOO densities of four train rows to the scores of a run."""
    path = results / "metrics" / run / "evaluation.json"
    evaluation = json.loads(path.read_text())
    evaluation["loo"] = {
        **{"elpd": sum(rows), "se": 1.0, "p": 2.0, "k_max": k, "k_limit": 0.7, "k_above": 2.0},
        **{"points": len(rows), "elpd_of_rows": rows},
    }
    evaluation["waic"] = {"elpd": sum(rows) + 1, "se": 1.0, "p": 2.0, "p_above_share": 0.0}
    evaluation |= {"stated_noise": STATED} if stated else {}
    path.write_text(json.dumps(evaluation))


def test_models_are_compared_at_train_rows_left_out(compare_runs: Compare, results: Path) -> None:
    """Second minus first: 0.1, 0.2, 0.3, 0.0, which sum to 0.6 with error 2 sd = 0.2582."""
    give_loo(results, RUNS[0], LOO, k=0.4)
    give_loo(results, RUNS[2], [-0.9, -1.3, -1.7, -0.5], k=0.83)
    plain = " ".join(compare_runs(RUNS[0], RUNS[2]).output.split())
    assert "elpd LOO of 4 train rows, second run minus first: +0.6 ± 0.26" in plain
    unreliable = "is unreliable: Pareto k is not below 0.7 in 2 of 4 train rows, 0.83 at most."
    assert f"LOO of {RUNS[2]} {unreliable}" in plain
    assert f"LOO of {RUNS[0]}" not in plain
    assert "elpd LOO" not in compare_runs(*RUNS).output


def test_runs_are_compared_by_a_custom_score_if_requested(
    compare_runs: Compare, results: Path, tmp_path: Path
) -> None:
    for run, (far, other) in zip(RUNS, ((0.1, 1), (0.2, 2), (0.4, 3), (0.5, 4)), strict=True):
        test = {**SCORES, "far_below": far, "other": other}
        own = {"far_below": {"compared": True}, "other": {"compared": False}}
        change(results, run, test=test, own_scores=own)
    done = compare_runs(*RUNS, "--out", tmp_path)
    shown = rows(done.output)
    assert [row[-1] for row in shown[:4]] == ["0.1", "0.2", "0.4", "0.5"]
    (row,) = [row for row in shown if row[1] == "far_below"]
    assert row[:4] == ["made/n8", "far_below", "2", "+0.3"]
    table = pd.read_csv(tmp_path / "runs.csv")
    assert [*table["far_below"]] == [0.1, 0.2, 0.4, 0.5]
    assert [*table["other"]] == [1, 2, 3, 4]
    lines = (tmp_path / "table.md").read_text().splitlines()
    assert [line.split(" | ")[-1].strip(" |") for line in lines] == [
        *("far_below", "---", "0.15 ± 0.05", "0.45 ± 0.05")
    ]
    assert "other" not in done.output


def change(results: Path, run: str, **changes: Any) -> None:
    """Change the scores of a run."""
    path = results / "metrics" / run / "evaluation.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def test_runs_of_other_train_rows_are_not_compared_by_loo(
    compare_runs: Compare, results: Path
) -> None:
    """The number of rows is equal, but targets differ."""
    for run in (RUNS[0], RUNS[2]):
        give_loo(results, run, LOO)
    change(results, RUNS[2], learned=LEARNED | {"train": "def"})
    plain = " ".join(compare_runs(RUNS[0], RUNS[2]).output.split())
    assert "Not compared by LOO: the runs were trained on different rows or targets." in plain
    assert "loo_per_row" not in plain


@pytest.mark.parametrize("other", [0.05, None])
def test_declared_tolerances_are_not_ranked_by_loo(
    compare_runs: Compare, results: Path, tmp_path: Path, other: float | None
) -> None:
    for run, declared in ((RUNS[0], 0.1), (RUNS[2], other)):
        give_loo(results, run, LOO)
        change(results, run, stated_noise=STATED | {"declared": declared})
    done = compare_runs(RUNS[0], RUNS[2], "--out", tmp_path / "out")
    plain = " ".join(done.output.split())
    assert "Not compared by LOO: a declared tolerance is no noise that was found" in plain
    assert "loo_per_row" not in (tmp_path / "out/differences.csv").read_text()
    change(results, RUNS[2], stated_noise=STATED | {"declared": 0.1})
    assert "elpd LOO of 4 train rows" in compare_runs(RUNS[0], RUNS[2]).output


def test_the_table_has_what_the_likelihood_says(
    compare_runs: Compare, results: Path, tmp_path: Path
) -> None:
    """Means over replicates, with their standard error; ESS over a million gradients."""
    scores = {"lppd": 1.25, "crps": 0.0123}
    write_run(results, "made/n3/s1", scores=scores, gradients_total=4_000_000)
    write_run(results, "made/n3/s2", scores=scores | {"lppd": 1.35})
    for run, rows_of in (("made/n3/s1", LOO), ("made/n3/s2", [-1.0, -1.0, -2.0, -0.5])):
        give_loo(results, run, rows_of)
    compare_runs("made/n3/s1", "made/n3/s2", *RUNS, "--out", tmp_path)
    head, _, *lines = (tmp_path / "table.md").read_text().splitlines()
    cells = [re.split(r" \| ", line.strip("| ")) for line in (head, *lines)]
    n3, n4, _ = (dict(zip(cells[0], row, strict=True)) for row in cells[1:])
    assert n3["LPPD"] == "1.300 ± 0.05"
    assert n3["CRPS"] == "0.0123 ± 0"
    assert n3["LOO per row"] == "-1.188 ± 0.062"
    assert n3["ESS f per 10⁶ gradients"] == "206 ± 1.2e+02"
    assert (n4["LPPD"], n4["CRPS"], n4["LOO per row"]) == ("-", "-", "-")
    assert n4["ESS f per 10⁶ gradients"] == "330 ± 0"
    runs = pd.read_csv(tmp_path / "runs.csv").set_index("run")
    ends = ("loo_per_row", "stated_lppd", "waic_per_row")
    columns = [str(name) for end in ends for name in runs if str(name).endswith(end)]
    assert len(columns) == 3
    by_run = runs[columns].T
    assert by_run["made/n3/s1"].tolist() == pytest.approx([-1.25, 0.7, -1.0])
    assert by_run["made/n4/s1"].isna().all()


def test_rivals_are_listed_once_for_each_dataset(compare_runs: Compare, results: Path) -> None:
    """Below the runs and in table.md, which has no seconds and is thus reproducible.

    A missing library is listed with its extra, and a part of the train rows with its size.
    """
    facts = {"rows": 2000, "train_rows": 9746}
    for run in RUNS:
        path = results / "metrics" / run / "evaluation.json"
        process = {"test": SCORES | {"rmse_log10": 0.001}, "facts": facts}
        rivals = {"gp": process, "trees": {"missing": "sklearn"}}
        path.write_text(json.dumps(json.loads(path.read_text()) | {"rivals": rivals}))
    timing = results.parent / "timings/rivals/made/gp.json"
    timing.parent.mkdir(parents=True, exist_ok=True)
    timing.write_text(json.dumps({"fit": 16.3, "predict_1": 0.0012, "predict_4096": 0.12}))
    job = results.parent / "timings/rival/made/gp.tsv"
    job.parent.mkdir(parents=True, exist_ok=True)
    job.write_text("s\tcpu_time\tmax_rss\n20.0\t19.0\t402.7\n")
    done = compare_runs(*RUNS, "--out", results / "out")
    (shown,) = [row for row in rows(done.output) if row[0] == "made" and "gp" in row[1]]
    cost, scores = ["16.3", "1.2", "0.12", "403"], ["0.001", "0.9990", "0.700 / 0.960", "-", "-"]
    assert shown == ["made", "gp, 2000 of 9746 rows", *cost, *scores]
    table = (results / "out/table.md").read_text()
    first = "| made | gp, 2000 of 9746 rows | 0.001 | 0.9990 | 0.700 / 0.960 | - | - |"
    assert table.count(first) == 1
    extra = needed("sklearn", "rivals")
    assert f"| made | trees {extra} | - | - | - / - | - | - |" in table
    assert "trees needs" in done.output


@pytest.mark.parametrize("runs", [[], [RUNS[0]], [RUNS[0], RUNS[0]]])
def test_fewer_than_two_runs_are_refused(compare_runs: Compare, runs: list[str]) -> None:
    with refused("commands.too_few_runs", runs=runs):
        compare_runs(*runs)


@pytest.mark.parametrize("name", ["diagnostics.json", "evaluation.json"])
def test_missing_metrics_name_the_remedy(
    compare_runs: Compare, results: Path, tmp_path: Path, name: str
) -> None:
    (results / "metrics" / RUNS[2] / name).unlink()
    with refused("commands.not_evaluated", file=name, folder=results / "metrics" / RUNS[2]):
        compare_runs(RUNS[0], RUNS[2], "--out", tmp_path / "out")
    assert not (tmp_path / "out").exists()
