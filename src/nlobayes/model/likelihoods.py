"""Likelihoods: how far the target may be from the network's output."""

from __future__ import annotations

from typing import Any, NamedTuple

import pymc as pm
import pytensor.tensor as pt

TARGET = "target"
NOISE = "noise"
ERROR = f"{TARGET}_error"


class Tolerance(NamedTuple):
    """Gaussian with a fixed sigma: a declared tolerance for noise-free targets."""

    sigma: float


class LearnedNoise(NamedTuple):
    """Gaussian with a learned sigma, half-normal a priori."""

    scale: float


Likelihood = Tolerance | LearnedNoise


def observe(likelihood: Likelihood, output: Any, target: Any, error: Any = None) -> Any:
    """Observe the target (point,) around the network's output (point,).

    The `error` (point,), the sd of the numerical noise of every target, adds to sigma in
    quadrature.
    """
    if isinstance(likelihood, Tolerance):
        sigma: Any = likelihood.sigma
    else:
        sigma = pm.HalfNormal(NOISE, likelihood.scale)
    if error is not None:
        sigma = pt.sqrt(sigma**2 + error**2)
    return pm.Normal(TARGET, output, sigma, observed=target)
