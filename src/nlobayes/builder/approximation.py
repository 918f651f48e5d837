"""The approximate method of a job, and what its positions are as draws."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import numpy as np

from nlobayes.builder.curvature import gauss_newton_with
from nlobayes.builder.model import Model, name_variables, observer, rows_of
from nlobayes.builder.sampler import stack_positions
from nlobayes.builder.starts import build_problem
from nlobayes.errors import InputError
from nlobayes.inference.method import Approached, Method
from nlobayes.inference.methods import METHODS
from nlobayes.study.jobs import ModelJob
from nlobayes.types import Dataset, PosteriorDraws


def build_method(preset: Any) -> Method:
    """Build the method of a preset, which has a `kind` and the settings of that."""
    return METHODS[preset.kind].build(**preset.model_dump(exclude={"kind"}))


def model_for(preset: Any, job: ModelJob) -> ModelJob:
    """Tell what model a method takes: one with its output layer integrated out, if it draws that.

    Positions of both are the same.
    """
    if not preset.draws_output:
        return job
    integrated = job.network.model_copy(update={"output": "marginalised"})
    return job.model_copy(update={"network": integrated})


def approach(model: Model, dataset: Dataset, maps: Sequence[np.ndarray]) -> Approached:
    """Build what a method starts from, with the MAPs as whole positions (parameter,)."""
    whole, sampled = stack_positions(model, maps), model.sampled

    def complete(key: jax.Array, positions: jax.Array) -> jax.Array:
        draw = sampled.complete
        if draw is None:
            return positions
        keys = jax.random.split(key, len(positions))
        return jax.lax.map(lambda one: draw(*one), (keys, positions))

    return Approached(
        sampled.logdensity_fn,
        whole,
        sampled.reduce(whole),
        jax.jit(complete),
        gauss_newton_with(model, dataset),
        build_problem(model),
        rows_of(model, dataset, 0) if sampled.complete is None else None,
    )


def draws_at(model: Model, dataset: Dataset, positions: jax.Array) -> PosteriorDraws:
    """Name the draws of positions (draw, parameter), as those of one chain.

    Raises
    ------
    InputError
        If the network is not finite at some of them.
    """
    function = jax.jit(lambda all_: jax.lax.map(observer(model, dataset), all_))(positions)["f"]
    lost = ~np.isfinite(function).reshape(len(positions), -1).all(axis=1)
    if lost.any():
        raise InputError("builder.draws_not_finite", lost=int(lost.sum()), draws=len(positions))
    log_density = jax.jit(lambda all_: jax.lax.map(model.logdensity_fn, all_))(positions)
    return PosteriorDraws(
        np.asarray(function)[np.newaxis],
        np.asarray(log_density)[np.newaxis],
        name_variables(model, positions[np.newaxis]),
    )
