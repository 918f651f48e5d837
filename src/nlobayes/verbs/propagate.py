"""Evaluate a posterior and its baseline, the ensemble of MAPs, at every point."""

from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from nlobayes import provenance
from nlobayes.artifacts import contents
from nlobayes.artifacts.netcdf import read_attrs, read_groups, write_groups
from nlobayes.artifacts.seals import digests
from nlobayes.data.transforms import TargetTransform, unstandardise
from nlobayes.errors import InputError
from nlobayes.model.networks import network_of
from nlobayes.study.jobs import PropagateJob, read_job
from nlobayes.types import Dataset, Named
from nlobayes.verbs import runtime


def propagate(
    spec: Annotated[str, typer.Option(help="Job specification: JSON text or a file.")],
    posterior: Annotated[Path, typer.Option(help="Thinned posterior.")],
    dataset: Annotated[Path, typer.Option(help="Dataset to predict.")],
    start: Annotated[list[Path], typer.Option(help="MAP of a chain; once per chain.")],
    out: Annotated[Path, typer.Option(help="Predictions to write.")],
) -> None:
    """Write f in log10 of the target for every draw, and for every MAP, at every point."""
    job = read_job(PropagateJob, spec)
    runtime.configure(job.model.precision)
    data = contents.read_dataset(dataset)
    thinned = read_groups(posterior, "thinned")
    if not np.array_equal(thinned["observed_data"]["target"], data.target[data.split == 0]):
        raise InputError(f"{posterior} has other train rows than {dataset}; give its own dataset")
    draws = thinned["posterior"]
    named = contents.read_variables(draws)
    members = [contents.read_start(path).variables for path in start]
    activation = job.model.network.activation
    functions = _evaluate(_flatten(named), activation, data)
    baseline = _evaluate(_stack(members), activation, data)
    shape = (draws.sizes["chain"], draws.sizes["draw"], -1)
    groups = contents.predictions_groups(functions.reshape(shape), baseline, data, draws)
    made = read_attrs(posterior)
    record = provenance.record(
        "propagate",
        job.model_dump(),
        digests([posterior, dataset, *start]),
        device=runtime.device(),
        precision=job.model.precision,
        **{name: made[name] for name in ("exact", "checks")},
    )
    write_groups(out, "predictions", groups, record)


def _evaluate(variables: dict[str, np.ndarray], activation: str, data: Dataset) -> np.ndarray:
    from nlobayes.surrogate.prediction import predict

    outputs = predict(network_of(variables, activation), variables, data.features)
    target = TargetTransform(**data.transforms["target"])
    return unstandardise(target, outputs.astype(np.float64)).astype(outputs.dtype)


def _flatten(named: Named) -> dict[str, np.ndarray]:
    return {name: v.reshape(-1, *v.shape[2:]) for name, v in named.values.items()}


def _stack(members: list[Named]) -> dict[str, np.ndarray]:
    return {name: np.stack([m.values[name] for m in members]) for name in members[0].values}
