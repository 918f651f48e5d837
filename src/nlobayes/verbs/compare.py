"""Compare runs: scores beside convergence, and paired differences with their error bars."""

import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
import typer
from rich.console import Console
from rich.table import Column, Table
from rich.text import Text

from nlobayes import provenance
from nlobayes.artifacts.files import read_csv, read_json, write_csv, write_text
from nlobayes.artifacts.records import write_record
from nlobayes.artifacts.seals import digests
from nlobayes.assessment import comparison
from nlobayes.assessment.comparison import INTERVAL, PointPredictions, RunMetrics
from nlobayes.assessment.information import elpd_difference
from nlobayes.assessment.tables import Columns
from nlobayes.assessment.tightness import TIGHT
from nlobayes.errors import InputError
from nlobayes.study.comparison import ComparedRun, CompareJob, scanned
from nlobayes.study.jobs import read_job

RED = "bold red"
SCORES = ("diagnostics.json", "evaluation.json")
WRITTEN = ("runs.csv", "differences.csv", "scanned.csv", "table.md")


STATED = ("lppd", "coverage_68", "coverage_95")
"""Scores of the test split under the noise of the likelihood."""


class Accuracy(NamedTuple):
    """How accuracy is called, and the keys of its scores; the first is also that of baselines."""

    first_name: str
    first: str
    second_name: str
    second: str


LOG10 = Accuracy("RMSE dex", "rmse_log10", "R² log10", "r2_log10")
TARGET = Accuracy("RMSE", "rmse_target", "R²", "r2_target_median")
CLASSES = Accuracy("accuracy", "accuracy", "lppd", "lppd")


def compare(
    runs: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="RUN",
            help="Runs, as `nlobayes summary` calls them; the first is compared to.",
        ),
    ] = None,
    results: Annotated[Path, typer.Option(help="Folder of the results.")] = Path("results"),
    spec: Annotated[
        str | None, typer.Option(help="Settings and replicates of a grid: JSON text or a file.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Folder for the tables.")] = None,
    record: Annotated[Path | None, typer.Option(help="Record of what made it (JSON).")] = None,
) -> None:
    """Show runs side by side, then how settings differ, paired over replicates or test points."""
    job = _job([run.strip("/") for run in runs or []], spec)
    found = [_read(run, results / "metrics" / run.run) for run in job.runs]
    differences = comparison.differences_table(found)
    console = Console(width=None if Console().is_terminal else 160)
    console.print(_runs(found))
    if len(differences["setting"]):
        console.print(_differences(differences, found))
    if len(found) == 2:
        console.print(_point_differences(found[0], found[1], results / "plots"))
        console.print(_left_out(found[0], found[1]))
    if out is not None:
        along, series = scanned(job)
        write_csv(out / "runs.csv", comparison.runs_table(found))
        write_csv(out / "differences.csv", differences)
        write_csv(out / "scanned.csv", {"along": [along], "series": [series]})
        write_text(out / "table.md", _markdown(found))
        read = [results / "metrics" / run.run / name for run in job.runs for name in SCORES]
        made = provenance.record("compare", job.model_dump(), digests(read))
        write_record(record, made, [out / name for name in WRITTEN])


def _job(runs: list[str], spec: str | None) -> CompareJob:
    if spec is None:
        return _named(runs)
    known = {run.run: run for run in read_job(CompareJob, spec).runs}
    unknown = sorted(set(runs) - set(known))
    if unknown:
        raise InputError(f"compare: {unknown} are not in --spec; leave them or --spec out")
    return CompareJob(runs=tuple(known[run] for run in runs or known))


def _named(runs: list[str]) -> CompareJob:
    """Take the last part of a run, its seed, as the replicate, and the others as the setting."""
    if len(runs) < 2 or len(set(runs)) < len(runs):
        raise InputError(f"compare: got {runs}; give two or more different runs, or --spec")
    parts = [(run, *run.rpartition("/")[::2]) for run in runs]
    return CompareJob(
        runs=tuple(
            ComparedRun(run=run, setting=setting, replicate=replicate, values={})
            for run, setting, replicate in parts
        )
    )


def _read(run: ComparedRun, folder: Path) -> RunMetrics:
    for name in SCORES:
        if not (folder / name).is_file():
            raise InputError(
                f"compare: no {name} in {folder}; run the workflow for it first, or see what there "
                "is by `nlobayes summary`"
            )
    evaluation = read_json(folder / "evaluation.json", "test", "baseline")
    loo = evaluation.get("loo")
    return RunMetrics(
        **run.model_dump(),
        diagnostics=read_json(folder / "diagnostics.json", "converged", "checks"),
        test=comparison.numbers(evaluation["test"]) | _of_model(evaluation),
        baseline=comparison.numbers(evaluation["baseline"]["test"]),
        loo=np.array(loo["elpd_of_rows"]) if loo else None,
    )


def _of_model(evaluation: Mapping[str, Any]) -> dict[str, float | None]:
    """Take what the likelihood itself says: LOO and WAIC of the train rows, its own predictive."""
    found: dict[str, float | None] = {}
    if loo := evaluation.get("loo"):
        found |= {"loo_per_row": loo["elpd"] / loo["points"], "loo_k_max": loo["k_max"]}
        found["waic_per_row"] = evaluation["waic"]["elpd"] / loo["points"]
    if stated := evaluation.get("stated_noise"):
        found |= {f"stated_{name}": stated["test"][name] for name in STATED}
    return found


def _runs(runs: Sequence[RunMetrics]) -> Table:
    accuracy = _accuracy(runs)
    rows = [_run(run, accuracy) for run in runs]
    return _table(rows, title="Test split, total uncertainty with fitted noise")


def _run(run: RunMetrics, accuracy: Accuracy) -> dict[str, str | Text]:
    test, found = run.test.get, run.diagnostics.get
    rhats = (_number(found(key), ".3f") for key in ("rhat_f_median", "rhat_f_p99"))
    tight = " (tight)" if (found("tightness") or 0) > TIGHT else ""
    return {
        "run": run.run,
        accuracy.first_name: _number(test(accuracy.first), ".4g"),
        f"baseline {accuracy.first_name}": _number(run.baseline.get(accuracy.first), ".4g"),
        accuracy.second_name: _number(test(accuracy.second), ".4f"),
        "68 % cov.": _number(test("coverage_68"), ".3f"),
        "95 % cov.": _number(test("coverage_95"), ".3f"),
        "sigma_z": _number(test("sigma_z_total"), ".3f"),
        "R-hat f med / p99": " / ".join(rhats),
        "ESS f min": _number(found("ess_f_bulk_min"), ".0f"),
        "div.": _number(found("divergences"), ".0f"),
        "tau": _number(found("tightness"), ".2g") + tight,
        "converged": _verdict(run),
    }


def _verdict(run: RunMetrics) -> Text:
    verdict = Text("yes")
    if not run.converged:
        verdict = Text(": ".join(filter(None, ["FAILED", ", ".join(run.failed_checks)])), RED)
    return verdict if run.diagnostics.get("exact", True) else verdict.append(" (not exact)")


def _differences(differences: Columns, runs: Sequence[RunMetrics]) -> Table:
    """Show the differences; a setting with a run that has not converged is red here, too."""
    failed = {run.setting for run in runs if not run.converged}
    rows = [
        {
            "setting": _marked(row["setting"], failed),
            "metric": row["metric"],
            "replicates": str(row["replicates"]),
            **_interval(row),
        }
        for row in _rows(differences)
    ]
    reference = _marked(differences["reference"][0], failed)
    title = Text.assemble("Paired differences to ", reference, ", 95 % t interval")
    alone = (differences["replicates"] < 2).any()
    caption = "Without a second replicate there is no error bar and no ranking." if alone else None
    return _table(rows, title, caption)


def _marked(setting: str, failed: set[str]) -> Text:
    return Text(f"{setting} (NOT CONVERGED)", RED) if setting in failed else Text(setting)


def _point_differences(first: RunMetrics, second: RunMetrics, plots: Path) -> Table | str:
    paths = [plots / run.run / "predictions.csv" for run in (first, second)]
    if not all(path.is_file() for path in paths):
        return f"{paths[0]} or {paths[1]} is missing: no differences paired over points."
    before, after = map(_predictions, paths)
    if not comparison.same_points(before, after):
        return "The runs have different test points: no differences paired over points."
    found = comparison.point_differences(before, after)
    rows = [{"metric": row["metric"], **_interval(row)} for row in _rows(found)]
    title = f"Second run minus first, paired over {len(before.point)} points, 95 % t interval"
    return _table(rows, title, "What other seeds or splits would change is not in it.")


def _left_out(first: RunMetrics, second: RunMetrics) -> str:
    """Say how the second model differs from the first at train rows that are left out."""
    if first.loo is None or second.loo is None or first.loo.shape != second.loo.shape:
        return "No LOO of the same train rows: no comparison of the models by them."
    found = elpd_difference(second.loo, first.loo)
    k = [run.test["loo_k_max"] for run in (first, second)]
    worst = max(math.inf if one is None else one for one in k)
    return (
        f"elpd LOO of {len(first.loo)} train rows, second run minus first: {found.elpd:+.4g} ± "
        f"{found.se:.2g}; largest Pareto k {worst:.2f}"
    )


def _predictions(path: Path) -> PointPredictions:
    table = read_csv(path)
    missing = [name for name in ("split", *PointPredictions._fields) if name not in table]
    if missing:
        raise InputError(f"{path} lacks columns {missing}; run the workflow to evaluate it anew")
    test = table[table["split"] == "test"]
    return PointPredictions(*(test[name].to_numpy() for name in PointPredictions._fields))


def _markdown(runs: Sequence[RunMetrics]) -> str:
    accuracy = _accuracy(runs)
    rows = [
        {"setting": setting, **_setting([*replicates.values()], accuracy)}
        for setting, replicates in comparison.by_setting(runs).items()
    ]
    lines = [[*rows[0]], ["---"] * len(rows[0]), *([*row.values()] for row in rows)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _setting(runs: Sequence[RunMetrics], accuracy: Accuracy) -> dict[str, str]:
    """Describe replicates by their worst convergence and their mean scores."""
    diagnostics = [run.diagnostics for run in runs]
    test, baseline = [run.test for run in runs], [run.baseline for run in runs]
    rhats = (_over(max, diagnostics, key, ".3f") for key in ("rhat_f_median", "rhat_f_p99"))
    coverage = (_mean(test, key, ".3f") for key in ("coverage_68", "coverage_95"))
    efficiency = [{"ess": comparison.ess_per_million_gradients(run)} for run in runs]
    return {
        "replicates": str(len(runs)),
        "R-hat f med / p99": " / ".join(rhats),
        "ESS f min": _over(min, diagnostics, "ess_f_bulk_min", ".0f"),
        "divergences": _over(sum, diagnostics, "divergences", ".0f"),
        f"test {accuracy.second_name}": _mean(test, accuracy.second, ".4f"),
        f"test {accuracy.first_name}": _mean(test, accuracy.first, ".4g"),
        "coverage 68 / 95 %": " / ".join(coverage),
        "sigma_z": _mean(test, "sigma_z_total", ".3f"),
        "LPPD": _mean(test, "lppd", ".3f"),
        "CRPS": _mean(test, "crps", ".3g"),
        "LOO per row": _mean(test, "loo_per_row", ".3f"),
        "ESS f per 10⁶ gradients": _mean(efficiency, "ess", ".3g"),
        f"baseline {accuracy.first_name}": _mean(baseline, accuracy.first, ".4g"),
        "converged": _verdict_on_all(runs),
    }


def _verdict_on_all(runs: Sequence[RunMetrics]) -> str:
    failed = [run for run in runs if not run.converged]
    if not failed:
        return "yes"
    share = f" in {len(failed)} of {len(runs)}" if len(runs) > 1 else ""
    checks = dict.fromkeys(name for run in failed for name in run.failed_checks)
    return f"**NO**{share}" + (f" ({', '.join(checks)})" if checks else "")


def _over(
    statistic: Callable[[Any], Any], found: Sequence[Mapping[str, Any]], key: str, form: str
) -> str:
    values = [one.get(key) for one in found]
    return "-" if None in values else format(statistic(values), form)


def _mean(scores: Sequence[Mapping[str, Any]], key: str, form: str) -> str:
    """Write mean and standard error over replicates."""
    values = [one.get(key) for one in scores]
    if None in values:
        return "-"
    found = comparison.estimate(np.array(values, dtype=np.float64))
    error = "" if found.size == 1 else f" ± {found.standard_error:.2g}"
    return f"{found.mean:{form}}{error}"


def _accuracy(runs: Sequence[RunMetrics]) -> Accuracy:
    """Choose the scores that all runs have."""
    known = (LOG10, CLASSES)
    return next((one for one in known if all(one.first in run.test for run in runs)), TARGET)


def _table(
    rows: Sequence[Mapping[str, str | Text]], title: str | Text, caption: str | None = None
) -> Table:
    columns = (Column(name, overflow="fold") for name in rows[0])
    table = Table(*columns, title=title, caption=caption)
    for row in rows:
        table.add_row(*row.values())
    return table


def _rows(columns: Columns) -> list[dict[str, Any]]:
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _interval(row: Mapping[str, Any]) -> dict[str, str]:
    return {name.replace("_", " "): _number(row[name], "+.4g") for name in INTERVAL}


def _number(value: float | None, form: str) -> str:
    return "-" if value is None or math.isnan(value) else format(value, form)
