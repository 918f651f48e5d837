"""Fit the MAP that one chain starts from."""

from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from nlobayes import provenance
from nlobayes.artifacts.contents import read_dataset, write_start
from nlobayes.artifacts.seals import digests
from nlobayes.assessment.tightness import describe, tightness
from nlobayes.errors import InputError
from nlobayes.study.jobs import PretrainJob, read_job
from nlobayes.study.presets import ToleranceLikelihood
from nlobayes.types import Dataset, Start
from nlobayes.verbs import runtime


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
    import jax

    from nlobayes import build
    from nlobayes.inference.pretrain import fit_map

    data = read_dataset(dataset)
    _check_batch(job, data, dataset)
    _describe_tightness(job, data, build.error_of(data))
    model = build.build_model(job.model, data)
    fit = jax.jit(fit_map, static_argnames=("problem", "epochs", "batch", "patience"))(
        build.chain_key(job.seed, "pretrain", chain),
        build.draw_start(model, job.pretraining.start, seed=job.seed, chain=chain),
        build.build_problem(model),
        *(build.rows_of(model, data, split) for split in (0, 1)),
        **job.pretraining.model_dump(exclude={"start"}),
    )
    build.check_finite(model, fit.position, f"{out}: the MAP of chain {chain}")
    start = Start(
        chain=chain,
        position=np.asarray(fit.position),
        variables=build.name_variables(model, fit.position),
        loss=np.asarray(fit.loss),
        validation_rmse=np.asarray(fit.validation_rmse),
        path_epochs=np.asarray(fit.path_epochs),
        path=np.asarray(fit.path, np.float32),
    )
    made = provenance.record(
        "pretrain",
        job.model_dump(),
        digests([dataset]),
        device=runtime.device(),
        precision=job.model.precision,
        epochs_run=int(fit.epochs),
    )
    write_start(out, start, made)


def _check_batch(job: PretrainJob, data: Dataset, path: Path) -> None:
    rows = int((data.split == 0).sum())
    if rows < job.pretraining.batch:
        raise InputError(
            f"pretraining.batch is {job.pretraining.batch} but {path} has {rows} train rows; "
            "use a smaller batch or more train rows"
        )


def _describe_tightness(job: PretrainJob, data: Dataset, error: np.ndarray | None) -> None:
    train = data.split == 0
    sd = float(data.target[train].std())
    if isinstance(job.model.likelihood, ToleranceLikelihood):
        relative = None if error is None else error[train] / sd
        tau = tightness(int(train.sum()), job.model.likelihood.sigma / sd, relative)
        typer.echo(describe(tau), err=True)
    else:
        typer.echo("tightness: sigma is learned, so chains decide it; see diagnostics", err=True)
