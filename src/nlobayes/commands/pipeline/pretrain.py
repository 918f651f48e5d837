"""Fit the MAP that one chain starts from."""

import zipfile

import numpy as np
import typer

from nlobayes.artifacts.contents import DatasetFile, StartFile
from nlobayes.commands.stage import stage
from nlobayes.diagnostics.tightness import describe, tightness
from nlobayes.errors import InputError
from nlobayes.stage_files import Stated
from nlobayes.study.jobs import PretrainJob
from nlobayes.study.pretraining import WeightsFile
from nlobayes.types import Dataset, EarlierData, MAPEstimate


@stage()
def pretrain(
    job: PretrainJob,
    dataset: DatasetFile,
    chain: int,
    earlier: EarlierData | None,
    before: StartFile | None = None,
) -> Stated[StartFile]:
    """Draw a starting point, or take the MAP `before`, and fit the MAP, with its history.

    Parameters
    ----------
    dataset
        Dataset to fit.
    chain
        Number of the chain.
    before
        MAP of the same model given fewer rows, to start at.

    Returns
    -------
    out
        MAP to write.
    """
    from nlobayes import builder

    _check_batch(job, dataset)
    _describe_tightness(job, dataset, builder.error_of(dataset))
    model = builder.build_model(job.model, dataset, earlier)
    begin = None if before is None else before.position
    weights = {} if job.pretraining.start_weights is None else _read(job.pretraining.start_weights)
    search = builder.build_search(model, dataset, job.pretraining, job.seed, begin, weights)
    fit, losses = search(chain)
    builder.check_finite(model, fit.position, f"the MAP of chain {chain}")
    start = MAPEstimate(
        chain=chain,
        position=np.asarray(fit.position),
        variables=builder.name_variables(model, fit.position),
        loss=np.asarray(fit.loss),
        validation_rmse=np.asarray(fit.validation_error),
        path_epochs=np.asarray(fit.path_epochs),
        path=np.asarray(fit.path, np.float32),
    )
    restarts = [loss if np.isfinite(loss) else None for loss in losses]
    return Stated(start, {"epochs_run": int(fit.epochs), "restart_losses": restarts})


def _read(given: WeightsFile) -> dict[str, np.ndarray]:
    """Read the arrays of a file of weights."""
    try:
        with np.load(given.file, allow_pickle=False) as arrays:
            return {name: np.asarray(arrays[name], float) for name in arrays.files}
    except (OSError, ValueError, zipfile.BadZipFile) as error:
        raise InputError(
            "commands.unreadable_weights", where=given.file, reason=str(error)
        ) from None


def _check_batch(job: PretrainJob, data: Dataset) -> None:
    rows = int((data.split == 0).sum())
    batch = job.pretraining.batch
    if batch != "full" and rows < batch:
        raise InputError("commands.too_few_train_rows", where="dataset", batch=batch, rows=rows)


def _describe_tightness(job: PretrainJob, data: Dataset, error: np.ndarray | None) -> None:
    train = data.split == 0
    sd = float(data.target[train].std())
    sigma = job.model.likelihood.stated_sigma
    if sigma is None:
        typer.echo("tightness: no sigma is stated, so chains decide it; see diagnostics", err=True)
        return
    relative = None if error is None else error[train] / sd
    typer.echo(describe(tightness(int(train.sum()), sigma / sd, relative)), err=True)
