"""Priors of the weights: each names one PyMC variable per layer, in the units of the network."""

from __future__ import annotations

from math import sqrt
from typing import Any, NamedTuple

import pymc as pm

WHITENED = "_whitened"


class FanIn(NamedTuple):
    """Weights N(0, scale^2 / fan_in), hidden biases N(0, scale^2), output bias N(0, 1); whitened.

    The width-independent prior of Neal (1996), *Bayesian Learning for Neural Networks*, chapter 2.
    """

    scale: float


class Gaussian(NamedTuple):
    """All weights and biases N(0, sd^2)."""

    sd: float
    whitened: bool


Prior = FanIn | Gaussian


def weights(prior: Prior, name: str, dims: tuple[str, str], *, fan_in: int) -> Any:
    """Name the weights of one layer, with dims (units in, units out)."""
    if isinstance(prior, FanIn):
        return _normal(name, prior.scale / sqrt(fan_in), dims, whitened=True)
    return _normal(name, prior.sd, dims, whitened=prior.whitened)


def biases(prior: Prior, name: str, dims: tuple[str], *, output: bool) -> Any:
    """Name the biases of one layer, with dims (units out)."""
    if isinstance(prior, FanIn):
        return _normal(name, 1.0 if output else prior.scale, dims, whitened=True)
    return _normal(name, prior.sd, dims, whitened=prior.whitened)


def _normal(name: str, sd: float, dims: tuple[str, ...], *, whitened: bool) -> Any:
    if not whitened:
        return pm.Normal(name, 0.0, sd, dims=dims)
    standard = pm.Normal(name + WHITENED, 0.0, 1.0, dims=dims)
    return pm.Deterministic(name, standard * sd, dims=dims)
