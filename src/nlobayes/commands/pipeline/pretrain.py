"""Fit the MAP that one chain starts from."""

from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from nlobayes import provenance
from nlobayes.artifacts.contents import read_dataset, write_map
from nlobayes.artifacts.seals import digests
from nlobayes.commands.shared import runtime
from nlobayes.commands.shared.earlier import earlier_files, earlier_of
from nlobayes.diagnostics.tightness import describe, tightness
from nlobayes.errors import InputError
from nlobayes.study.jobs import PretrainJob, read_job
from nlobayes.types import Dataset, MAPEstimate


def pretrain(
    spec: Annotated[str, typer.Option(help="Job specification: JSON text or a file.")],
    dataset: Annotated[Path, typer.Option(help="Dataset to fit.")],
    chain: Annotated[int, typer.Option(help="Number of the chain.", min=0)],
    out: Annotated[Path, typer.Option(help="MAP to write.")],
) -> None:
    """Draw a starting point, fit the MAP and write it with its history."""
    job = read_job(PretrainJob, spec)
    runtime.configure(job.model.precision, job.model.device, job.model.shards)
    runtime.choose_device(job.model.device, chain, job.model.shards)
    from nlobayes import builder

    data = read_dataset(dataset)
    _check_batch(job, data, dataset)
    _describe_tightness(job, data, builder.error_of(data))
    model = builder.build_model(job.model, data, earlier_of(job.model))
    fit, losses = builder.build_search(model, data, job.pretraining, job.seed)(chain)
    builder.check_finite(model, fit.position, f"{out}: the MAP of chain {chain}")
    start = MAPEstimate(
        chain=chain,
        position=np.asarray(fit.position),
        variables=builder.name_variables(model, fit.position),
        loss=np.asarray(fit.loss),
        validation_rmse=np.asarray(fit.validation_error),
        path_epochs=np.asarray(fit.path_epochs),
        path=np.asarray(fit.path, np.float32),
    )
    made = provenance.record(
        "pretrain",
        job.model_dump(),
        digests([dataset, *earlier_files(job.model)]),
        device=runtime.device(),
        precision=job.model.precision,
        epochs_run=int(fit.epochs),
        restart_losses=[loss if np.isfinite(loss) else None for loss in losses],
    )
    write_map(out, start, made)


def _check_batch(job: PretrainJob, data: Dataset, path: Path) -> None:
    rows = int((data.split == 0).sum())
    batch = job.pretraining.batch
    if batch != "full" and rows < batch:
        raise InputError("commands.too_few_train_rows", batch=batch, dataset=path, rows=rows)


def _describe_tightness(job: PretrainJob, data: Dataset, error: np.ndarray | None) -> None:
    train = data.split == 0
    sd = float(data.target[train].std())
    sigma = job.model.likelihood.stated_sigma
    if sigma is None:
        typer.echo("tightness: no sigma is stated, so chains decide it; see diagnostics", err=True)
        return
    relative = None if error is None else error[train] / sd
    typer.echo(describe(tightness(int(train.sum()), sigma / sd, relative)), err=True)
