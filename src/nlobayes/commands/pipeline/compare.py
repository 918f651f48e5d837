"""Compare runs: scores beside convergence, and paired differences with their error bars."""

import math
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from rich.table import Table

from nlobayes import provenance
from nlobayes.artifacts.files import read_as, read_csv, write_csv, write_text
from nlobayes.artifacts.records import write_record
from nlobayes.artifacts.seals import digests
from nlobayes.diagnostics.run_diagnostics import Diagnostics
from nlobayes.errors import InputError
from nlobayes.evaluation.comparison import compared_settings
from nlobayes.evaluation.comparison import runs as comparison
from nlobayes.evaluation.comparison.differences import (
    PointPredictions,
    differences_table,
    point_differences,
    same_points,
)
from nlobayes.evaluation.comparison.runs import LearnedData, RunMetrics
from nlobayes.evaluation.run_evaluation import Evaluation
from nlobayes.evaluation.scores.information import elpd_difference
from nlobayes.metrics.shown import MONTE_CARLO, error_of
from nlobayes.reporting import comparison_tables as tables
from nlobayes.reporting.renderers import in_box, wide_console
from nlobayes.study.comparison import ComparedRun, CompareJob, scanned, varied
from nlobayes.study.read_jobs import read_job

SCORES = ("diagnostics.json", "evaluation.json")
WRITTEN = (
    *("runs.csv", "differences.csv", "scanned.csv", "pulls_by_setting.csv", "weight_spread.csv"),
    "table.md",
)

STATED = ("lppd", "coverage_68", "coverage_95")
"""Scores of the test split under the noise of the likelihood."""


def compare(
    runs: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="RUN",
            help="Runs, by their paths below results/metrics; the first is compared to.",
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
    comparison.check_one_target(found)
    why_not = comparison.why_not_by_loo(found)
    unreliable = _unreliable(found)
    found = [comparison.without_loo(run) for run in found] if why_not else found
    differences = differences_table(found)
    console = wide_console()
    console.print(in_box(tables.table_of_runs(found)))
    if any(run.rivals for run in found):
        console.print(in_box(tables.table_of_rivals(found, results)))
    if len(differences["setting"]):
        console.print(in_box(tables.table_of_differences(differences, found)))
    if len(found) == 2:
        console.print(_point_differences(found[0], found[1], results / "plots"))
        console.print(f"Not compared by LOO: {why_not}." if why_not else _left_out(*found))
        for line in unreliable:
            console.print(line)
    if out is not None:
        along, series = scanned(job)
        write_csv(out / "runs.csv", comparison.runs_table(found))
        write_csv(out / "differences.csv", differences)
        names = {"along": [along], "series": [series], "varied": [varied(job)]}
        write_csv(out / "scanned.csv", names)
        write_csv(out / "pulls_by_setting.csv", compared_settings.pulls_table(found))
        write_csv(out / "weight_spread.csv", compared_settings.weights_table(found))
        write_text(out / "table.md", tables.markdown(found))
        read = [results / "metrics" / run.run / name for run in job.runs for name in SCORES]
        made = provenance.record("compare", job.model_dump(), digests(read))
        write_record(record, made, [out / name for name in WRITTEN])


def _job(runs: list[str], spec: str | None) -> CompareJob:
    if spec is None:
        return _named(runs)
    known = {run.run: run for run in read_job(CompareJob, spec).runs}
    unknown = sorted(set(runs) - set(known))
    if unknown:
        raise InputError("commands.runs_not_in_spec", where="compare", runs=unknown)
    return CompareJob(runs=tuple(known[run] for run in runs or known))


def _named(runs: list[str]) -> CompareJob:
    """Take the last part of a run, its seed, as the replicate, and the others as the setting."""
    if len(runs) < 2 or len(set(runs)) < len(runs):
        raise InputError("commands.too_few_runs", where="compare", runs=runs)
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
            raise InputError("commands.not_evaluated", where="compare", file=name, folder=folder)
    evaluation = read_as(Evaluation, folder / "evaluation.json", "test", "baseline")
    loo = evaluation.get("loo")
    return RunMetrics(
        **run.model_dump(),
        diagnostics=read_as(Diagnostics, folder / "diagnostics.json", "converged", "checks"),
        scored_draws=evaluation.get("scored_draws"),
        test=comparison.numbers(evaluation["test"]) | _of_model(evaluation),
        baseline=comparison.numbers(evaluation["baseline"]["test"]),
        loo=np.array(loo["elpd_of_rows"]) if loo else None,
        learned=_learned(evaluation),
        rivals=evaluation.get("rivals", {}),
        compared=tuple(
            name for name, score in evaluation.get("own_scores", {}).items() if score["compared"]
        ),
        train=comparison.numbers(evaluation.get("train", {})),
        pulls={kind: evaluation["test"].get(f"pulls_{kind}") for kind in compared_settings.KINDS},
        errors=_errors(evaluation),
    )


def _learned(evaluation: Evaluation) -> LearnedData | None:
    if "learned" not in evaluation:
        return None
    found = evaluation["learned"]
    stated = evaluation.get("stated_noise")
    declared = stated.get("declared") if stated else None
    return LearnedData(
        tuple(found["target"]), found["unit"], found["scale"], found["train"], declared
    )


def _unreliable(runs: list[RunMetrics]) -> list[str]:
    """Name the runs whose LOO is unreliable."""
    lines = []
    for run in runs:
        worst, limit = run.test.get("loo_k_max", -math.inf), run.test.get("loo_k_limit")
        worst = math.inf if worst is None else worst
        if run.loo is not None and limit is not None and worst >= limit:
            lines.append(
                f"LOO of {run.run} is unreliable: Pareto k is not below {limit:.2g} in "
                f"{run.test['loo_k_above']:.0f} of {len(run.loo)} train rows, {worst:.2f} at most."
            )
    return lines


def _of_model(evaluation: Evaluation) -> dict[str, float | None]:
    """Take the scores of the likelihood itself: LOO, WAIC, and those of its own predictive."""
    found: dict[str, float | None] = {}
    if (loo := evaluation.get("loo")) and (waic := evaluation.get("waic")):
        found |= {"loo_per_row": loo["elpd"] / loo["points"]}
        found |= {f"loo_{key}": loo.get(key) for key in ("k_max", "k_limit", "k_above")}
        found["waic_per_row"] = waic["elpd"] / loo["points"]
    if stated := evaluation.get("stated_noise"):
        found |= {f"stated_{name}": stated["test"][name] for name in STATED}
    return found


def _errors(evaluation: Evaluation) -> dict[str, float | None]:
    """Take the Monte-Carlo errors of the test scores, and of the model's own predictive."""
    stated = evaluation.get("stated_noise")
    own = {f"stated_{name}": stated and error_of(stated["test"], name) for name in STATED}
    return {**(evaluation["test"].get(MONTE_CARLO) or {}), **own}


def _point_differences(first: RunMetrics, second: RunMetrics, plots: Path) -> Table | str:
    paths = [plots / run.run / "predictions.csv" for run in (first, second)]
    if not all(path.is_file() for path in paths):
        return f"{paths[0]} or {paths[1]} is missing: no differences paired over points."
    before, after = map(_predictions, paths)
    if not same_points(before, after):
        return "The runs have different test points: no differences paired over points."
    found = point_differences(before, after)
    return in_box(tables.table_of_points(found, len(before.point)))


def _left_out(first: RunMetrics, second: RunMetrics) -> str:
    """State how the second model differs from the first at train rows that are left out."""
    assert first.loo is not None
    assert second.loo is not None
    found = elpd_difference(second.loo, first.loo)
    return (
        f"elpd LOO of {len(first.loo)} train rows, second run minus first: {found.elpd:+.4g} ± "
        f"{found.se:.2g}"
    )


def _predictions(path: Path) -> PointPredictions:
    table = read_csv(path)
    missing = [name for name in ("split", *PointPredictions._fields) if name not in table]
    if missing:
        raise InputError("commands.lacks_columns", path=path, columns=missing)
    test = table[table["split"] == "test"]
    return PointPredictions(*(test[name].to_numpy() for name in PointPredictions._fields))
