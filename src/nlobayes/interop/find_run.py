"""Search for the posterior of a run, its model and its dataset."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from nlobayes.artifacts.chains import LINEARISED
from nlobayes.artifacts.contents import read_dataset, read_earlier
from nlobayes.artifacts.netcdf import read_attrs
from nlobayes.artifacts.places import RESULTS
from nlobayes.artifacts.seals import digest
from nlobayes.errors import InputError
from nlobayes.study.jobs import ModelJob
from nlobayes.study.read_jobs import stated_model
from nlobayes.types import Dataset, EarlierData

KINDS = ("posterior", "thinned")
"""Kinds of artifacts that hold draws of a posterior and its model."""
DATA = f"{RESULTS}/data/"

NameOrPath = str | Path


class RunPosterior(NamedTuple):
    """A posterior, its model, and the data on which it was conditioned.

    `linearised` is true if its draws are linearised networks.
    """

    posterior: Path
    model: ModelJob
    dataset: Dataset
    earlier: EarlierData | None
    linearised: bool


def find(run: NameOrPath, dataset: NameOrPath | None, results: NameOrPath) -> RunPosterior:
    """Find the posterior of a run, given by its path or its name, with its model and data.

    Without `dataset`, the dataset is the file that the posterior names, in the same project.

    Raises
    ------
    InputError
        If there is no such posterior, or if the dataset is missing or differs from that of the
        posterior.
    """
    posterior = _posterior(run, Path(results))
    attributes = read_attrs(posterior)
    spec = attributes.get("spec") if attributes.get("kind") in KINDS else None
    model = stated_model(spec, str(posterior))
    if model is None:
        kind = attributes.get("kind", "none")
        raise InputError("interop.no_posterior", where=posterior, kind=kind)
    inputs = attributes["inputs"]
    data = _beside(posterior, attributes, inputs) if dataset is None else Path(dataset)
    if not data.is_file():
        raise InputError("interop.no_dataset", where=posterior, dataset=data)
    if digest(data) not in inputs.values():
        raise InputError("interop.other_dataset", where=posterior, dataset=data)
    file = model.prior.earlier
    earlier = None if file is None else read_earlier(Path(file.file))
    linearised = attributes.get("predictive") == LINEARISED
    return RunPosterior(posterior, model, read_dataset(data), earlier, linearised)


def _posterior(run: NameOrPath, results: Path) -> Path:
    """Return the path of a file unchanged, and treat any other argument as the name of a run."""
    path, named = Path(run), results / "posterior" / f"{run}.nc"
    if path.is_file():
        return path
    if not named.is_file():
        raise InputError("interop.no_run", run=str(run), path=named)
    return named


def _beside(posterior: Path, attributes: dict[str, object], inputs: dict[str, str]) -> Path:
    """Find the dataset that a posterior names, in the project of the posterior."""
    named = [name for name in inputs if name.startswith(DATA)]
    if len(named) != 1:
        raise InputError("interop.dataset_not_named", where=posterior)
    place, whole = str(attributes.get("place", "")), posterior.absolute()
    inside = bool(place) and whole.as_posix().endswith(f"/{place}")
    return whole.parents[len(Path(place).parts) - 1] / named[0] if inside else Path(named[0])
