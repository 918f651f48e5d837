"""What several verbs take from a posterior."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from nlobayes.artifacts.netcdf import Groups, read_attrs
from nlobayes.diagnostics.draws import ChainDraws
from nlobayes.errors import InputError
from nlobayes.model.networks import is_parameter
from nlobayes.study.jobs import ModelJob
from nlobayes.study.stated_model import stated_model


def posterior_draws(groups: Groups) -> ChainDraws:
    """Take the draws of all chains, everything flat; the weights in the parameters' order."""
    stats, function = groups["all_sample_stats"], groups["predictions"]["f"].values
    weights = [w.values for name, w in groups["posterior"].items() if is_parameter(str(name))]
    return ChainDraws(
        function=function.reshape(*function.shape[:2], -1),
        log_density=stats["lp"].values,
        noise=stats["noise"].values if "noise" in stats else None,
        weights=np.concatenate([w.reshape(*w.shape[:2], -1) for w in weights], axis=2),
        hyperparameters=_hyperparameters(groups),
    )


def _hyperparameters(groups: Groups) -> dict[str, np.ndarray] | None:
    """Take what prior and likelihood learned, one number per draw each; local scales are many."""
    drawn = groups["posterior"].items()
    learned = {
        str(name): values.values
        for name, values in drawn
        if not is_parameter(str(name)) and name != "noise" and values.ndim == 2
    }
    return learned or None


def model_of(posterior: Path) -> ModelJob:
    """Read the model that a thinned posterior is of.

    Raises
    ------
    InputError
        If the file is no thinned posterior, or its model none that is known here.
    """
    made = read_attrs(posterior)
    spec = made.get("spec") if made.get("kind") == "thinned" else None
    model = stated_model(spec, str(posterior))
    if model is None:
        raise InputError("commands.no_model_stated", path=posterior)
    return model
