"""The approximate method of a job, and what its positions are as draws."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np

from nlobayes.builder.model import Model, name_variables, observer
from nlobayes.inference.method import Method
from nlobayes.inference.methods import METHODS
from nlobayes.types import Dataset, PosteriorDraws


def build_method(preset: Any) -> Method:
    """Build the method of a preset, which has a `kind` and the settings of that."""
    return METHODS[preset.kind].build(**preset.model_dump(exclude={"kind"}))


def draws_at(model: Model, dataset: Dataset, positions: jax.Array) -> PosteriorDraws:
    """Name the draws of positions (draw, parameter), as those of one chain."""
    function = jax.jit(lambda all_: jax.lax.map(observer(model, dataset), all_))(positions)["f"]
    log_density = jax.jit(lambda all_: jax.lax.map(model.logdensity_fn, all_))(positions)
    return PosteriorDraws(
        np.asarray(function)[np.newaxis],
        np.asarray(log_density)[np.newaxis],
        name_variables(model, positions[np.newaxis]),
    )
