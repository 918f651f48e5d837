"""Presets of priors become what states the arrays of a network in PyMC."""

from __future__ import annotations

from nlobayes.model.prior import Prior, Statement
from nlobayes.model.priors import PRIORS
from nlobayes.model.slopes import SLOPE_PRIORS
from nlobayes.statements.custom import load_function
from nlobayes.study import priors as presets

ELSEWHERE = {"kind", "slopes", "memory"}
"""Keys of every preset that are no settings of its own."""


def build_prior(preset: presets.Prior) -> Prior:
    """Build the prior of weights and biases."""
    build = PRIORS[preset.kind].build
    if isinstance(preset, presets.CustomPrior):
        return build(function=load_function(preset), settings=preset.settings)
    return build(**preset.model_dump(exclude=ELSEWHERE))


def build_slopes(preset: presets.Slopes | None) -> Statement | None:
    """Build the prior of trained slopes, where there is one."""
    if preset is None:
        return None
    return SLOPE_PRIORS[preset.kind].build(**preset.model_dump(exclude={"kind"}))
