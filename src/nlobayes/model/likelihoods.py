"""Likelihoods: how far the target may be from the network's output."""

from __future__ import annotations

from typing import Any, NamedTuple

import pymc as pm

TARGET = "target"
NOISE = "noise"


class Tolerance(NamedTuple):
    """Gaussian with a fixed sigma: a declared tolerance for noise-free targets."""

    sigma: float


class LearnedNoise(NamedTuple):
    """Gaussian with a learned sigma, half-normal a priori."""

    scale: float


Likelihood = Tolerance | LearnedNoise


def observe(likelihood: Likelihood, output: Any, target: Any) -> Any:
    """Observe the target (point,) around the network's output (point,)."""
    if isinstance(likelihood, Tolerance):
        return pm.Normal(TARGET, output, likelihood.sigma, observed=target)
    return pm.Normal(TARGET, output, pm.HalfNormal(NOISE, likelihood.scale), observed=target)
