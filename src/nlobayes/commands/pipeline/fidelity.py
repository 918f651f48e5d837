"""Compare approximate posteriors with the exact one: their errors, and the CPU time they save."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from nlobayes.artifacts.files import JSONFile, json_file, read_timing, write_csv
from nlobayes.artifacts.netcdf import Artifact, OpenerFile
from nlobayes.artifacts.predicted import PredictionsFile
from nlobayes.commands.stage import stage
from nlobayes.data.splits import TEST
from nlobayes.errors import InputError
from nlobayes.evaluation.comparison.posteriors import (
    HeldOutDraws,
    compare,
    compare_halves,
    held_out,
)
from nlobayes.evaluation.fidelity import pareto_k
from nlobayes.stage_files import File
from nlobayes.study.jobs_of_runs import FidelityJob
from nlobayes.types import Columns, Predictions
from nlobayes.untyped import Document, Facts

SCORES = ("rmse_log10", "rmse_target", "accuracy", "coverage_68", "coverage_95", "lppd")
"""Scores of the test split in the table; null if a task has no such score."""
LOG_APPROXIMATION = "log_approximation"
"""Sample stat of approximations: their own log density at their draws, if they have one."""
ABOUT = ("run", "converged", "failed_checks", "exact", "test")
"""Entries of a row that are no measures."""


Evaluated = Annotated[Document, json_file("test")]
Diagnosed = Annotated[Document, json_file("converged", "checks", "exact")]
TimesFile = Annotated[Columns, File(write=write_csv, option="table", measured=True)]


@stage()
def fidelity(
    job: FidelityJob,
    predictions: list[PredictionsFile],
    posterior: list[OpenerFile],
    evaluation: list[Evaluated],
    diagnostics: list[Diagnosed],
    timings: Path = Path("timings"),
) -> tuple[JSONFile, TimesFile]:
    """Compare f at the test points with the exact posterior; add scores, verdicts and CPU times.

    Files of each kind are those of the exact run, then of the approximations in their order.

    Parameters
    ----------
    predictions
        Predictions of a run; once per run.
    posterior
        Posterior of a run; once per run.
    evaluation
        Scores of a run (JSON); once per run.
    diagnostics
        Convergence of a run (JSON); once per run.
    timings
        Folder of the timings.

    Returns
    -------
    out
        Measures to write (JSON).
    table
        Table with CPU seconds beside to write (CSV).
    """
    methods = [job.exact, *job.approximations]
    given = [len(files) for files in (predictions, posterior, evaluation, diagnostics)]
    if {*given} != {len(methods)}:
        raise InputError("commands.unequal_files", where="fidelity", files=given, runs=len(methods))
    exact, *others = _held_out(predictions)
    scored = [_scored(*each) for each in zip(evaluation, diagnostics, strict=True)]
    measured = [compare(exact, held) for held in others]
    first = {"run": job.exact.run, **scored[0], "halves": compare_halves(exact)}
    rest = [
        {"run": method.run, **scores, **measures, "pareto_k": _pareto_k(file)}
        for method, scores, measures, file in zip(
            job.approximations, scored[1:], measured, posterior[1:], strict=True
        )
    ]
    for row in rest:
        typer.echo(_line(row, first), err=True)
    seconds = [_cpu_seconds(timings / name for name in method.timings) for method in methods]
    table = _columns([{**first, **first["halves"]}, *rest], seconds)
    return {"points": exact.points, "exact": first, "approximations": rest}, table


def _held_out(predictions: list[Predictions]) -> list[HeldOutDraws]:
    """Return the predictions of each posterior at the test rows, which must be the same."""
    first = predictions[0]
    for number, one in enumerate(predictions):
        same = np.array_equal(one.observed, first.observed)
        if not (same and np.array_equal(one.split, first.split)):
            path, other = f"predictions[{number}]", "predictions[0]"
            raise InputError("commands.other_points_predicted", path=path, first=other)
    rows = first.split == TEST
    return [held_out(one.posterior, len(one.chains), rows) for one in predictions]


def _scored(evaluation: Document, found: Document) -> Document:
    """Return the verdict on convergence and the scores of the test rows."""
    test = evaluation["test"]
    failed = [name for name, check in found["checks"].items() if not check["passed"]]
    verdict = {"converged": found["converged"], "failed_checks": failed, "exact": found["exact"]}
    return {**verdict, "test": {name: test[name] for name in SCORES if name in test}}


def _pareto_k(posterior: Callable[..., Artifact]) -> float | None:
    """Return Pareto k of the importance weights; None if the approximation states no density.

    Draws that were resampled by these weights store it as an attribute.
    """
    _, groups, attrs, _ = posterior("posterior", only=("sample_stats",))
    stats = groups["sample_stats"]
    if LOG_APPROXIMATION not in stats:
        return attrs.get("pareto_k")
    return pareto_k(stats["lp"].values, stats[LOG_APPROXIMATION].values)


def _cpu_seconds(timings: Iterable[Path]) -> float:
    """Sum the CPU seconds of jobs; NaN if that of one is not known."""
    return float(sum(_floats([read_timing(path, "cpu_time") for path in timings]).tolist()))


def _columns(rows: Sequence[Facts], seconds: Sequence[float]) -> Columns:
    """Make the table: a row for the halves of the exact run, then one for each approximation."""
    numbers = [name for name, value in rows[-1].items() if name not in ABOUT]
    columns = {
        "run": np.array([row["run"] for row in rows]),
        "method": np.array([row["run"].split("/")[-2] for row in rows]),
        "converged": np.array([_verdict(row["converged"]) for row in rows]),
        "failed_checks": np.array([" ".join(row["failed_checks"]) for row in rows]),
        **{name: _floats([row.get(name) for row in rows]) for name in numbers},
        **{name: _floats([row["test"].get(name) for row in rows]) for name in SCORES},
        "cpu_seconds": _floats(seconds),
    }
    with np.errstate(divide="ignore", invalid="ignore"):
        saved = columns["cpu_seconds"][0] / columns["cpu_seconds"]
    return columns | {"cpu_ratio": saved}


def _floats(values: Sequence[float | None]) -> np.ndarray:
    return np.array([np.nan if value is None else value for value in values], np.float64)


def _verdict(converged: bool | None) -> str:
    return "approximate" if converged is None else "yes" if converged else "NO"


def _line(row: Facts, exact: Facts) -> str:
    """Describe the errors of an approximation, and whether the exact chains have converged."""
    off, ratio, apart = (
        "none" if row[name] is None else f"{row[name]:.2g}"
        for name in ("mean_difference_rms", "sd_ratio_median", "total_variation_mean")
    )
    warned = "" if exact["converged"] else " (the exact run has NOT CONVERGED)"
    return (
        f"{row['run']}: mean off by {off} sd, sd {ratio} of the exact one,"
        f" total variation {apart}{warned}"
    )
