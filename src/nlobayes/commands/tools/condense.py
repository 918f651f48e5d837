"""Condense the posterior of f into a file of earlier data, which priors of new runs may name."""

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
import xarray as xr
from pydantic import ValidationError

from nlobayes import provenance, runtime
from nlobayes.artifacts import contents
from nlobayes.artifacts.netcdf import open_artifact
from nlobayes.artifacts.seals import digests
from nlobayes.artifacts.thinned import check_same_rows, flatten
from nlobayes.commands.thinned_model import model_of
from nlobayes.data.splits import TRAIN
from nlobayes.data.transforms import CLASSES, target_transform, unstandardise
from nlobayes.draws_at_points import predict_draws
from nlobayes.errors import InputError
from nlobayes.model import earlier_data
from nlobayes.study.jobs import ModelJob
from nlobayes.study.jobs_of_runs import CondenseJob
from nlobayes.study.refusal import refusal
from nlobayes.types import Dataset

POINTS, PRIOR_DRAWS = 100, 4000


def condense(
    posterior: Annotated[Path, typer.Argument(help="Thinned posterior.")],
    dataset: Annotated[Path, typer.Option(help="Dataset that it was conditioned on.")],
    out: Annotated[Path, typer.Option(help="File to write.")],
    points: Annotated[int, typer.Option(help="Train rows at which f is kept.", min=1)] = POINTS,
    smallest_share: Annotated[
        float, typer.Option(help="Least prior variance of what is remembered, over the largest.")
    ] = earlier_data.SMALLEST_SHARE,
    prior_draws: Annotated[
        int,
        typer.Option(help="Draws of the prior that is divided out.", min=earlier_data.FEWEST_DRAWS),
    ] = PRIOR_DRAWS,
    seed: Annotated[int, typer.Option(help="Seed of these draws.", min=0)] = 0,
) -> None:
    """Divide the prior out of a Gaussian for f at a few points, and write the quotient.

    Only the prior of the weights is divided out. Earlier data that the prior of the run named are
    kept.
    """
    job = _job(
        model=model_of(posterior),
        points=points,
        smallest_share=smallest_share,
        prior_draws=prior_draws,
        seed=seed,
    )
    runtime.configure(job.model.precision)
    _, thinned, made, _ = read = open_artifact(posterior, "thinned")
    source = open_artifact(dataset, "dataset")
    data = contents.dataset_of(source)
    _check(job.model, data)
    check_same_rows(thinned, data, posterior)
    at = earlier_data.at_few_rows(data, np.flatnonzero(data.split == TRAIN), points)
    prior = _prior_functions(job, data, at)
    functions = _functions(job.model, thinned["posterior"], at)
    earlier = earlier_data.condense(functions, prior, at, smallest_share)
    if not len(earlier.root):
        raise InputError("commands.nothing_learned", where=posterior, draws=len(functions))
    typer.echo(
        f"{len(earlier.root)} combinations of f at {len(at.inputs)} points, "
        f"from {len(functions)} draws",
        err=True,
    )
    _warn(posterior, made["checks"])
    record = provenance.record(
        "condense",
        job.model_dump(),
        digests([read, source]),
        device=runtime.device(),
        precision=job.model.precision,
        **{name: made[name] for name in ("exact", "checks")},
    )
    contents.write_earlier(out, earlier, record)


def _job(**settings: Any) -> CondenseJob:
    try:
        return CondenseJob(**settings)
    except ValidationError as error:
        raise refusal(error, "condense") from None


def _check(model: ModelJob, data: Dataset) -> None:
    targets = len(data.target_names)
    classes = data.target_scale == CLASSES
    if classes or model.likelihood.outputs(targets) != 1:
        raise InputError(
            "commands.several_outputs",
            targets=[*data.target_names],
            likelihood=model.likelihood.kind,
        )


def _functions(model: ModelJob, draws: xr.Dataset, at: Dataset) -> np.ndarray:
    """Evaluate every draw at every point, on the model scale."""
    return predict_draws(flatten(contents.read_variables(draws)), model, at).function


def _prior_functions(job: CondenseJob, data: Dataset, at: Dataset) -> np.ndarray:
    """Draw f from the prior of the weights at every point, on the model scale."""
    from nlobayes import builder

    bare = job.model.prior.model_copy(update={"earlier": None})
    changes = {"prior": bare, "device": "cpu", "shards": 1}
    model = builder.build_model(job.model.model_copy(update=changes), data)
    drawn = builder.draw_functions(model, at.features, seed=job.seed, draws=job.prior_draws)
    return unstandardise(target_transform(at.transforms), drawn, at.relative_to)


def _warn(posterior: Path, checks: dict[str, dict[str, object]]) -> None:
    failed = [name for name, check in checks.items() if not check["passed"]]
    if failed:
        failed_text = ", ".join(failed)
        typer.echo(
            f"warning: {posterior} failed {failed_text}; so does what is built on it", err=True
        )
