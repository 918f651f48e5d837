"""Evaluate a posterior and its baseline, the ensemble of MAPs, at every point of a dataset."""

from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from nlobayes import provenance
from nlobayes.artifacts import contents, predicted
from nlobayes.artifacts.netcdf import open_artifact, write_groups
from nlobayes.artifacts.seals import digests
from nlobayes.commands.shared import runtime
from nlobayes.commands.shared.centres import read_centres
from nlobayes.commands.shared.functions import (
    check_same_rows,
    flatten,
    predict_between,
    predict_draws,
    read_weights,
)
from nlobayes.model.networks import is_size
from nlobayes.study.jobs import PosteriorPredictiveJob, read_job
from nlobayes.types import Named


def posterior_predictive(
    spec: Annotated[str, typer.Option(help="Job specification: JSON text or a file.")],
    posterior: Annotated[Path, typer.Option(help="Thinned posterior.")],
    dataset: Annotated[Path, typer.Option(help="Dataset to predict.")],
    start: Annotated[list[Path], typer.Option(help="MAP of a chain; once per chain.")],
    out: Annotated[Path, typer.Option(help="Predictions to write.")],
) -> None:
    """Write f on the model scale and the likelihood's noise for every draw, MAP and point."""
    job = read_job(PosteriorPredictiveJob, spec)
    runtime.configure(job.model.precision)
    source = open_artifact(dataset, "dataset")
    _, thinned, made, _ = read = open_artifact(posterior, "thinned")
    data = contents.dataset_of(source)
    check_same_rows(thinned, data, posterior, dataset)
    draws = thinned["posterior"]
    drawn = flatten(read_weights(thinned, posterior))
    members = _stack([contents.read_map(path).variables for path in start])
    centres = read_centres(thinned)
    about = None if centres is None else flatten(centres)
    of_posterior = predict_draws(drawn, job.model, data, about)
    of_baseline = predict_draws(members, job.model, data)
    plane = predict_between(drawn, job.model, data, about)
    groups = predicted.predictions_groups(of_posterior, of_baseline, data, draws, plane)
    sizes = [name for name in draws if is_size(str(name))]
    groups |= {"sizes": draws[sizes]} if sizes else {}
    record = provenance.record(
        "posterior_predictive",
        job.model_dump(),
        digests([read, source, *start]),
        device=runtime.device(),
        precision=job.model.precision,
        **{name: made[name] for name in ("exact", "checks")},
    )
    write_groups(out, "predictions", groups, record)


def _stack(members: list[Named]) -> dict[str, np.ndarray]:
    return {name: np.stack([m.values[name] for m in members]) for name in members[0].values}
