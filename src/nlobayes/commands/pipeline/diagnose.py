"""Check the convergence of a posterior in function space."""

from collections.abc import Mapping
from typing import Annotated

import numpy as np
import typer
import xarray as xr

from nlobayes.artifacts.chains import stored_every
from nlobayes.artifacts.files import json_file
from nlobayes.artifacts.netcdf import Groups, PosteriorFile
from nlobayes.checks import APPROXIMATE, ConvergenceCheck, failed, show_limit, show_value
from nlobayes.commands.stage import stage
from nlobayes.diagnostics import limits, verdict
from nlobayes.diagnostics.architecture import architecture, rhat_of_sizes
from nlobayes.diagnostics.draws import SampleStats
from nlobayes.diagnostics.run_diagnostics import Diagnostics
from nlobayes.diagnostics.stored_draws import (
    drawn_sizes,
    parameters_of,
    posterior_draws,
    weights_of,
)
from nlobayes.diagnostics.tightness import tightness
from nlobayes.diagnostics.weight_spread import weight_spread
from nlobayes.errors import InputError
from nlobayes.stage_files import Stated
from nlobayes.study.jobs import DiagnoseJob
from nlobayes.untyped import Facts


@stage()
def diagnose(
    job: DiagnoseJob, posterior: Stated[PosteriorFile]
) -> Annotated[Diagnostics, json_file()]:
    """Compute R-hat, ESS, autocorrelation and the verdict.

    Parameters
    ----------
    posterior
        Posterior to check.

    Returns
    -------
    out
        Diagnostics to write (JSON).
    """
    groups, stated = posterior
    is_of_chains = "warmup_sample_stats" in groups
    metrics = (_of_chains if is_of_chains else _of_approximation)(job, groups, stated)
    drawn = groups["posterior"]
    # Units that a drawn size leaves out have weights, too.
    metrics["weight_spread"] = None if drawn_sizes(drawn) else weight_spread(weights_of(drawn))
    _print(metrics["checks"], metrics["still_chains_at"])
    if not is_of_chains:
        typer.echo(APPROXIMATE, err=True)
    return metrics


def _of_chains(job: DiagnoseJob, groups: Groups, stated: Facts) -> Diagnostics:
    draws, warmup = posterior_draws(groups), groups["warmup_sample_stats"]
    diagnostics = verdict.diagnose(
        draws,
        _sample_stats(groups["all_sample_stats"], job),
        thresholds=limits.Thresholds(**job.thresholds.model_dump()),
        tightness=_tightness(job, draws.noise, groups["observed_data"]),
        gradients_warmup=int(warmup["n_steps"].sum()) if "n_steps" in warmup else None,
        thin=stored_every(groups["posterior"]),
        thinning_loss=job.thinning_loss,
        exact=bool(stated["exact"]),
        superchains=job.superchains,
    )
    return _with_architecture(diagnostics, groups, job.thresholds.rhat_max)


def _with_architecture(diagnostics: Diagnostics, groups: Groups, limit: float) -> Diagnostics:
    """Add the diagnostics of the drawn network sizes, if any, and check their R-hat."""
    sizes = drawn_sizes(groups["posterior"])
    if not sizes:
        return diagnostics
    stats = {str(name): values.values for name, values in groups["all_sample_stats"].items()}
    parameters = parameters_of(groups["posterior"])
    diagnostics["architecture"] = architecture(sizes, parameters, stats)
    rhat = rhat_of_sizes(sizes)
    return diagnostics if rhat is None else limits.with_check(diagnostics, "rhat_size", rhat, limit)


def _of_approximation(job: DiagnoseJob, groups: Groups, stated: Facts) -> Diagnostics:
    noise, lp = groups["posterior"].get("noise"), groups["sample_stats"]["lp"]
    tight = _tightness(job, None if noise is None else noise.values, groups["observed_data"])
    found = verdict.diagnose_approximation(lp.sizes["draw"], tightness=tight)
    if (evidence := stated.get("log_evidence")) is not None:
        found["log_evidence"] = np.ravel(evidence).tolist()
    return found


def _sample_stats(stats: xr.Dataset, job: DiagnoseJob) -> SampleStats:
    max_depth = job.kernel.max_tree_depth if job.kernel else None
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


def _tightness(job: DiagnoseJob, noise: np.ndarray | None, observed: xr.Dataset) -> float | None:
    """Compute the tightness of the likelihood; None if it has no single sigma."""
    if not job.likelihood.has_one_sigma:
        return None
    sigma = job.likelihood.stated_sigma
    if sigma is None:
        if noise is None:
            raise InputError("commands.no_learned_noise", where="diagnose")
        sigma = float(noise.mean())
    sd = float(observed["target"].values.std())
    error = observed["error"].values / sd if "error" in observed else None
    return tightness(observed.sizes["point"], sigma / sd, error)


def _print(checks: Mapping[str, ConvergenceCheck], still: list[int] | None) -> None:
    for name, check in checks.items():
        outcome = "passed" if check["passed"] else typer.style("FAILED", fg="red", bold=True)
        value, limit = show_value(check["value"]), show_limit(name, check)
        typer.echo(f"{outcome}: {name} {value} ({limit})", err=True)
    if still:
        typer.echo(f"chains that stand still: {', '.join(map(str, still))}", err=True)
    if broken := failed(checks):
        text = f"NOT CONVERGED: {', '.join(broken)} failed; no score of this run is to be trusted"
        typer.echo(typer.style(text, fg="red", bold=True), err=True)
