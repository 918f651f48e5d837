"""Compare approximate posteriors with the exact one: their errors, and the CPU time they save."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated, NamedTuple

import numpy as np
import typer

from nlobayes import provenance
from nlobayes.artifacts.files import read_json, read_timing, write_csv, write_json
from nlobayes.artifacts.netcdf import Groups, open_artifact
from nlobayes.artifacts.predicted import read_predicted
from nlobayes.artifacts.records import write_record
from nlobayes.artifacts.seals import digests
from nlobayes.data.splits import TEST
from nlobayes.errors import InputError
from nlobayes.evaluation.comparison.posteriors import (
    HeldOutDraws,
    compare,
    compare_halves,
    held_out,
)
from nlobayes.evaluation.fidelity import pareto_k
from nlobayes.study.jobs import read_job
from nlobayes.study.jobs_of_runs import FidelityJob
from nlobayes.types import Columns
from nlobayes.untyped import Document, Facts

SCORES = ("rmse_log10", "rmse_target", "accuracy", "coverage_68", "coverage_95", "lppd")
"""Scores of the test split in the table; null if a task has no such score."""
LOG_APPROXIMATION = "log_approximation"
"""Sample stat of approximations: their own log density at their draws, if they have one."""
ABOUT = ("run", "converged", "failed_checks", "exact", "test")
"""Entries of a row that are no measures."""


class Sources(NamedTuple):
    """The files of one run."""

    predictions: Path
    posterior: Path
    evaluation: Path
    diagnostics: Path


def fidelity(
    spec: Annotated[str, typer.Option(help="Job specification: JSON text or a file.")],
    out: Annotated[Path, typer.Option(help="Measures to write (JSON).")],
    table: Annotated[Path, typer.Option(help="Table with CPU seconds beside to write (CSV).")],
    results: Annotated[Path, typer.Option(help="Folder of the results.")] = Path("results"),
    timings: Annotated[Path, typer.Option(help="Folder of the timings.")] = Path("timings"),
    record: Annotated[Path | None, typer.Option(help="Record of what made it (JSON).")] = None,
) -> None:
    """Compare f at the test points with the exact posterior; add scores, verdicts and CPU times.

    (No stage: the runs of its job name its files, as in `compare`.)
    """
    job = read_job(FidelityJob, spec)
    methods = [job.exact, *job.approximations]
    sources = [_sources(method.run, results) for method in methods]
    exact, *others = _read_draws([each.predictions for each in sources])
    scored = [_scored(each) for each in sources]
    measured = [compare(exact, held) for held in others]
    first = {"run": job.exact.run, **scored[0], "halves": compare_halves(exact)}
    rest = [
        {"run": method.run, **scores, **measures, "pareto_k": _pareto_k(files)}
        for method, scores, measures, files in zip(
            job.approximations, scored[1:], measured, sources[1:], strict=True
        )
    ]
    write_json(out, {"points": exact.points, "exact": first, "approximations": rest})
    seconds = [_cpu_seconds(timings / name for name in method.timings) for method in methods]
    write_csv(table, _columns([{**first, **first["halves"]}, *rest], seconds))
    read = [path for files in sources for path in files]
    made = provenance.record("fidelity", job.model_dump(mode="json"), digests(read))
    write_record(record, made, [out])
    for row in rest:
        typer.echo(_line(row, first), err=True)


def _sources(run: str, results: Path) -> Sources:
    metrics = results / "metrics" / run
    return Sources(
        results / "predictions" / f"{run}.nc",
        results / "posterior" / f"{run}.nc",
        metrics / "evaluation.json",
        metrics / "diagnostics.json",
    )


def _read_draws(paths: Sequence[Path]) -> list[HeldOutDraws]:
    """Read the predictions of each posterior at the test rows, which must be the same."""
    read = {path: open_artifact(path, "predictions").groups for path in paths}
    first = read[paths[0]]["points"]
    for path, groups in read.items():
        if not groups["points"].equals(first):
            raise InputError("commands.other_points_predicted", path=path, first=paths[0])
    return [_held(groups, first["split"].values == TEST) for groups in read.values()]


def _held(groups: Groups, rows: np.ndarray) -> HeldOutDraws:
    predictions = groups["predictions"]
    return held_out(read_predicted(predictions), predictions.sizes["chain"], rows)


def _scored(files: Sources) -> Document:
    """Read the verdict on convergence and the scores of the test rows."""
    found = read_json(files.diagnostics, "converged", "checks", "exact")
    test = read_json(files.evaluation, "test")["test"]
    failed = [name for name, check in found["checks"].items() if not check["passed"]]
    verdict = {"converged": found["converged"], "failed_checks": failed, "exact": found["exact"]}
    return {**verdict, "test": {name: test[name] for name in SCORES if name in test}}


def _pareto_k(files: Sources) -> float | None:
    """Return Pareto k of the importance weights; None if the approximation states no density.

    Draws that were resampled by these weights store it as an attribute.
    """
    posterior = open_artifact(files.posterior, "posterior", only=("sample_stats",))
    stats = posterior.groups["sample_stats"]
    if LOG_APPROXIMATION not in stats:
        return posterior.attrs.get("pareto_k")
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
