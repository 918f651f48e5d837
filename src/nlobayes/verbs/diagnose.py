"""Judge the convergence of a posterior in function space."""

from itertools import product
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
import xarray as xr

from nlobayes import provenance
from nlobayes.artifacts.contents import read_dataset, read_start
from nlobayes.artifacts.files import write_csv, write_json
from nlobayes.artifacts.netcdf import read_attrs, read_groups
from nlobayes.artifacts.records import write_record
from nlobayes.artifacts.seals import digests
from nlobayes.assessment import verdict
from nlobayes.assessment.draws import PosteriorDraws, SampleStats
from nlobayes.assessment.tables import chains as tables
from nlobayes.assessment.tightness import tightness
from nlobayes.errors import InputError
from nlobayes.study.jobs import DiagnoseJob, read_job
from nlobayes.study.presets import ToleranceLikelihood
from nlobayes.verbs import covariates


def diagnose(
    spec: Annotated[str, typer.Option(help="Job specification: JSON text or a file.")],
    posterior: Annotated[Path, typer.Option(help="Posterior to judge.")],
    dataset: Annotated[Path, typer.Option(help="Dataset of the posterior.")],
    start: Annotated[list[Path], typer.Option(help="MAP of a chain; once per chain.")],
    out: Annotated[Path, typer.Option(help="Diagnostics to write (JSON).")],
    plots: Annotated[Path, typer.Option(help="Folder for the tables behind the figures.")],
    record: Annotated[Path | None, typer.Option(help="Record of what made it (JSON).")] = None,
) -> None:
    """Write R-hat, ESS, autocorrelation and the verdict, and the tables behind the figures."""
    job = read_job(DiagnoseJob, spec)
    groups = read_groups(posterior, "posterior")
    draws = _draws(groups)
    stats = _sample_stats(groups["sample_stats"], job)
    metrics = verdict.diagnose(
        draws,
        stats,
        thresholds=verdict.Thresholds(**job.thresholds.model_dump()),
        tightness=_tightness(job, draws, groups["observed_data"]["target"].values),
        gradients_warmup=int(groups["warmup_sample_stats"]["n_steps"].sum()),
        keep_every=job.keep_every,
        thinning_loss=job.thinning_loss,
        exact=bool(read_attrs(posterior)["exact"]),
        superchains=job.superchains,
    )
    covariate = covariates.of(read_dataset(dataset), job.covariate)
    names = _weight_names(groups["posterior"])
    starts = [read_start(path) for path in start]
    written = {
        "verdict": verdict.table(metrics["checks"]),
        "trace": tables.trace(draws.log_density, draws.noise),
        "convergence": tables.per_point(draws.function, covariate.at_reference),
        "quantities": tables.quantities(_with_coefficients(draws, names)),
        "autocorrelation": tables.correlations(draws.function, draws.log_density, draws.noise),
        "weight_autocorrelation": tables.weight_correlations(draws.weights, job.keep_every),
        "history": tables.history(draws.weights, names, job.keep_every),
        "weight_planes": tables.weight_planes(draws.weights, names),
        "divergences": tables.divergences(draws.function, stats.diverging, covariate.at_reference),
        "loss": tables.losses([s.loss for s in starts], [s.validation_rmse for s in starts]),
    }
    for name, table in written.items():
        write_csv(plots / f"{name}.csv", table)
    write_json(out, metrics)
    made = provenance.record("diagnose", job.model_dump(), digests([posterior, dataset, *start]))
    write_record(record, made, [out, *(plots / f"{name}.csv" for name in written)])
    _print(metrics["checks"])


def _draws(groups: dict[str, xr.Dataset]) -> PosteriorDraws:
    stats = groups["sample_stats"]
    weights = [w.values for name, w in groups["posterior"].items() if name != "noise"]
    return PosteriorDraws(
        function=groups["predictions"]["f"].values,
        log_density=stats["lp"].values,
        noise=stats["noise"].values if "noise" in stats else None,
        weights=np.concatenate([w.reshape(*w.shape[:2], -1) for w in weights], axis=2),
    )


def _sample_stats(stats: xr.Dataset, job: DiagnoseJob) -> SampleStats:
    max_depth = getattr(job.kernel, "max_depth", None)
    unadjusted = "energy_variance" in stats
    return SampleStats(
        energy=stats["energy"].values,
        acceptance_rate=stats["acceptance_rate"].values,
        diverging=stats["diverging"].values,
        n_steps=stats["n_steps"].values,
        tree_depth=stats["tree_depth"].values if max_depth else None,
        max_tree_depth=max_depth,
        energy_variance=stats["energy_variance"].values if unadjusted else None,
        energy_variance_aim=job.energy_variance if unadjusted else None,
    )


def _weight_names(posterior: xr.Dataset) -> list[str]:
    """Name every weight in the order of the parameter vector: `weights_1[m1, 0]`."""
    names = []
    for name, weights in posterior.items():
        labels = [[str(v) for v in weights[dim].values] for dim in weights.dims[2:]]
        if name != "noise":
            names += [f"{name}[{', '.join(place)}]" for place in product(*labels)]
    return names


def _with_coefficients(draws: PosteriorDraws, names: list[str]) -> PosteriorDraws:
    """Count the weights of a network without hidden layer, which are identified, as quantities."""
    if any(name.startswith("weights_2") for name in names):
        return draws
    weights = np.moveaxis(draws.weights, 2, 0)
    return draws._replace(hyperparameters=dict(zip(names, weights, strict=True)))


def _tightness(job: DiagnoseJob, draws: PosteriorDraws, target: np.ndarray) -> float:
    if isinstance(job.likelihood, ToleranceLikelihood):
        sigma = job.likelihood.sigma
    elif draws.noise is not None:
        sigma = float(draws.noise.mean())
    else:
        raise InputError("diagnose: --spec learns a noise that --posterior lacks; give its own")
    return tightness(len(target), sigma / float(target.std()))


def _print(checks: dict[str, dict[str, Any]]) -> None:
    for name, check in checks.items():
        outcome = "passed" if check["passed"] else typer.style("FAILED", fg="red", bold=True)
        typer.echo(f"{outcome}: {name} {check['value']} (limit {check['threshold']})", err=True)
    failed = [name for name, check in checks.items() if not check["passed"]]
    if failed:
        said = f"NOT CONVERGED: {', '.join(failed)} failed; no score of this run is to be trusted"
        typer.echo(typer.style(said, fg="red", bold=True), err=True)
