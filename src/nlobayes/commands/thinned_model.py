"""The model of a thinned posterior, for tools that evaluate it elsewhere."""

from __future__ import annotations

from pathlib import Path

from nlobayes.artifacts.netcdf import read_attrs
from nlobayes.artifacts.thinned import check_networks
from nlobayes.errors import InputError
from nlobayes.study.jobs import ModelJob
from nlobayes.study.read_jobs import stated_model


def model_of(posterior: Path) -> ModelJob:
    """Read the model of a thinned posterior.

    Raises InputError if the file is no thinned posterior, its model is not known here, or its
    networks are linearised or infinitely wide.
    """
    made = read_attrs(posterior)
    spec = made.get("spec") if made.get("kind") == "thinned" else None
    model = stated_model(spec, str(posterior))
    if model is None:
        raise InputError("commands.no_model_stated", path=posterior)
    check_networks(made, posterior)
    if model.network.width is not None:
        raise InputError("commands.infinite_width", where=posterior)
    return model
