"""Judge the convergence of a posterior in function space."""

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
import xarray as xr

from nlobayes.artifacts.contents import read_start
from nlobayes.artifacts.files import write_csv, write_json
from nlobayes.artifacts.netcdf import read_attrs, read_groups
from nlobayes.assessment import tables, verdict
from nlobayes.assessment.tightness import tightness
from nlobayes.errors import InputError
from nlobayes.study.jobs import DiagnoseJob, read_job
from nlobayes.study.presets import ToleranceLikelihood


def diagnose(
    spec: Annotated[str, typer.Option(help="Job specification: JSON text or a file.")],
    posterior: Annotated[Path, typer.Option(help="Posterior to judge.")],
    start: Annotated[list[Path], typer.Option(help="MAP of a chain; once per chain.")],
    out: Annotated[Path, typer.Option(help="Diagnostics to write (JSON).")],
    plots: Annotated[Path, typer.Option(help="Folder for the tables behind the figures.")],
) -> None:
    """Write R-hat, ESS, autocorrelation and the verdict, and the tables behind the figures."""
    job = read_job(DiagnoseJob, spec)
    groups = read_groups(posterior, "posterior")
    draws = _draws(groups)
    metrics = verdict.diagnose(
        draws,
        _sample_stats(groups["sample_stats"], job),
        thresholds=verdict.Thresholds(**job.thresholds.model_dump()),
        tightness=_tightness(job, draws, groups["observed_data"]["target"].values),
        gradients_warmup=int(groups["warmup_sample_stats"]["n_steps"].sum()),
        keep_every=job.keep_every,
        exact=bool(read_attrs(posterior)["exact"]),
    )
    starts = [read_start(path) for path in start]
    write_csv(plots / "trace.csv", tables.trace(draws.log_density, draws.noise))
    write_csv(plots / "convergence.csv", tables.per_point(draws.function))
    write_csv(plots / "autocorrelation.csv", tables.correlations(draws.function, draws.log_density))
    write_csv(
        plots / "loss.csv",
        tables.losses([s.loss for s in starts], [s.validation_rmse for s in starts]),
    )
    write_json(out, metrics)
    _print(metrics["checks"])


def _draws(groups: dict[str, xr.Dataset]) -> verdict.PosteriorDraws:
    stats = groups["sample_stats"]
    weights = [w.values for name, w in groups["posterior"].items() if name != "noise"]
    return verdict.PosteriorDraws(
        function=groups["predictions"]["f"].values,
        log_density=stats["lp"].values,
        noise=stats["noise"].values if "noise" in stats else None,
        weights=np.concatenate([w.reshape(*w.shape[:2], -1) for w in weights], axis=2),
    )


def _sample_stats(stats: xr.Dataset, job: DiagnoseJob) -> verdict.SampleStats:
    max_depth = getattr(job.kernel, "max_depth", None)
    unadjusted = "energy_variance" in stats
    return verdict.SampleStats(
        energy=stats["energy"].values,
        acceptance_rate=stats["acceptance_rate"].values,
        diverging=stats["diverging"].values,
        n_steps=stats["n_steps"].values,
        tree_depth=stats["tree_depth"].values if max_depth else None,
        max_tree_depth=max_depth,
        energy_variance=stats["energy_variance"].values if unadjusted else None,
        energy_variance_aim=job.energy_variance if unadjusted else None,
    )


def _tightness(job: DiagnoseJob, draws: verdict.PosteriorDraws, target: np.ndarray) -> float:
    if isinstance(job.likelihood, ToleranceLikelihood):
        sigma = job.likelihood.sigma
    elif draws.noise is not None:
        sigma = float(draws.noise.mean())
    else:
        raise InputError("diagnose: --spec learns a noise that --posterior lacks; give its own")
    return tightness(len(target), sigma / float(target.std()))


def _print(checks: dict[str, dict[str, Any]]) -> None:
    for name, check in checks.items():
        outcome = "passed" if check["passed"] else "FAILED"
        typer.echo(f"{outcome}: {name} {check['value']} (limit {check['threshold']})", err=True)
