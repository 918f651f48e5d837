"""Compare approximate posteriors with the exact one: their errors, and the CPU time they save."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Annotated

import typer

from nlobayes.artifacts.files import JSONFile, json_file, read_timing, write_csv
from nlobayes.artifacts.netcdf import Artifact, OpenerFile
from nlobayes.artifacts.predicted import PredictionsFile
from nlobayes.commands.stage import stage
from nlobayes.data.splits import TEST
from nlobayes.errors import InputError
from nlobayes.evaluation.comparison.posteriors import (
    SCORES,
    at_split,
    compare,
    compare_halves,
    floats,
    in_words,
    table_of,
)
from nlobayes.evaluation.fidelity import pareto_k
from nlobayes.stage_files import File
from nlobayes.study.jobs_of_runs import FidelityJob
from nlobayes.types import Columns
from nlobayes.untyped import Document

LOG_APPROXIMATION = "log_approximation"
"""Sample stat of approximations: their own log density at their draws, if they have one."""


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
    exact, *others = at_split(predictions, TEST)
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
        typer.echo(in_words(row, first), err=True)
    seconds = [_cpu_seconds(timings / name for name in method.timings) for method in methods]
    table = table_of([{**first, **first["halves"]}, *rest], seconds)
    return {"points": exact.points, "exact": first, "approximations": rest}, table


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
    return float(sum(floats([read_timing(path, "cpu_time") for path in timings]).tolist()))
