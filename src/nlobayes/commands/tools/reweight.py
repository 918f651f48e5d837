"""Reweight a posterior to another prior or likelihood by importance weights."""

from pathlib import Path
from typing import Annotated

import numpy as np
import typer
import xarray as xr
from pydantic import ValidationError

from nlobayes import provenance, runtime
from nlobayes.artifacts import contents
from nlobayes.artifacts.files import write_csv
from nlobayes.artifacts.netcdf import open_artifact, write_groups
from nlobayes.artifacts.seals import digests
from nlobayes.artifacts.thinned import check_same_rows, flatten
from nlobayes.commands.thinned_model import model_of
from nlobayes.distributions.log_sums import log_sum_exp
from nlobayes.draws_at_points import predict_draws
from nlobayes.errors import InputError
from nlobayes.evaluation.reweighting import importance
from nlobayes.evaluation.reweighting.importance import Weights
from nlobayes.study.jobs import ModelJob
from nlobayes.study.jobs_of_runs import ReweightJob
from nlobayes.study.refusal import refusal
from nlobayes.study.study import preset_of
from nlobayes.types import NamedArrays
from nlobayes.untyped import Document

LEAST_ESS = 100.0
"""Independent draws of the new model that determine a mean to a tenth of its sd."""


def reweight(
    posterior: Annotated[Path, typer.Argument(help="Thinned posterior.")],
    dataset: Annotated[Path, typer.Option(help="Dataset that it was conditioned on.")],
    out: Annotated[Path, typer.Option(help="Thinned posterior of the new model to write.")],
    prior: Annotated[str | None, typer.Option(help="Preset by name, or as YAML text.")] = None,
    likelihood: Annotated[str | None, typer.Option(help="Preset by name, or as YAML.")] = None,
    table: Annotated[Path | None, typer.Option(help="Predictions to write (CSV).")] = None,
    seed: Annotated[int, typer.Option(help="Seed of the draws that are repeated.", min=0)] = 0,
    least_ess: Annotated[
        float, typer.Option(help="Fewest independent draws that they must be worth.", min=0)
    ] = LEAST_ESS,
) -> None:
    """Weight the draws, refuse unreliable weights, and resample the draws by them.

    It prints by how much the log evidence of the new model exceeds that of the old one: the prior
    with the largest value fits the train rows best.
    """
    old = model_of(posterior)
    new = _target(old, prior, likelihood)
    runtime.configure("float64")
    from nlobayes.builder.stored import log_ratios

    _, groups, made, _ = read = open_artifact(posterior, "thinned")
    source = open_artifact(dataset, "dataset")
    data = contents.dataset_of(source)
    check_same_rows(groups, data, posterior)
    stored = contents.read_variables(groups["posterior"])
    ratios = log_ratios(old, new, data, stored)
    weights = importance.importance_weights(ratios)
    importance.check(weights, least_ess=least_ess)
    reliability = f"Pareto k {weights.pareto_k:.2f} (limit {weights.threshold:.2f})"
    total = len(weights.log_weights)
    typer.echo(f"{reliability}; {total} draws are worth {weights.ess:.0f}", err=True)
    evidence = float(log_sum_exp(ratios) - np.log(ratios.size))
    error = max(1 / weights.ess - 1 / total, 0.0) ** 0.5
    typer.echo(f"log evidence changes by {evidence:+.3f} +- {error:.3f}", err=True)
    if table is not None:
        function = predict_draws(flatten(stored), new, data).function
        write_csv(table, importance.tabulate_change(weights, function, data.split))
    job = ReweightJob(model=old, target=new, seed=seed)
    rng = np.random.default_rng(seed)
    chosen = importance.resample(weights, total, rng)
    groups["posterior"] = _choose(stored, chosen)
    record = provenance.record(
        "reweight",
        job.model_dump(),
        digests([read, source]),
        device=runtime.device(),
        precision=made["precision"],
        exact=made["exact"],
        checks=made["checks"] | _checks(weights, least_ess),
        weights_ess=weights.ess,
        log_evidence_ratio=evidence,
    )
    write_groups(out, "thinned", groups, record)


def _target(old: ModelJob, prior: str | None, likelihood: str | None) -> ModelJob:
    """Return the new model: the old one with another prior, likelihood, or both."""
    changes = {"prior": prior, "likelihood": likelihood}
    stated = {
        name: preset_of(f"{name}s", text) for name, text in changes.items() if text is not None
    }
    if not stated:
        raise InputError("commands.no_other_model", where="reweight")
    try:
        new = ModelJob.model_validate(old.model_dump() | stated)
    except ValidationError as error:
        raise refusal(error, "reweight") from None
    if new.likelihood.of_classes is not old.likelihood.of_classes:
        raise InputError(
            "commands.other_targets",
            where="reweight",
            likelihood=new.likelihood.kind,
            old=old.likelihood.kind,
        )
    if new.network.has_slopes and new.prior.slopes is None:
        raise InputError("commands.slopes_without_prior", where="reweight")
    return new


def _checks(weights: Weights, least_ess: float) -> Document:
    k = float(weights.pareto_k) if np.isfinite(weights.pareto_k) else None
    enough = bool(weights.ess >= least_ess)
    return {
        "pareto_k": {"value": k, "threshold": weights.threshold, "passed": bool(weights.reliable)},
        "weights_ess": {"value": weights.ess, "threshold": least_ess, "passed": enough},
    }


def _choose(stored: NamedArrays, chosen: np.ndarray) -> xr.Dataset:
    """Select draws of all chains by their numbers, and join them to one chain."""
    values = {name: v[chosen][np.newaxis] for name, v in flatten(stored).items()}
    coords = {"chain": [0], "draw": np.arange(len(chosen))}
    return contents.named_group(stored._replace(values=values), ("chain", "draw"), coords)
