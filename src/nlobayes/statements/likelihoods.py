"""Presets of likelihoods become what observes the target and knows what outputs mean."""

from __future__ import annotations

from nlobayes.model.likelihood import Likelihood
from nlobayes.model.likelihoods import LIKELIHOODS
from nlobayes.study import likelihoods as presets


def build_likelihood(preset: presets.Likelihood) -> Likelihood:
    """Build the likelihood."""
    return LIKELIHOODS[preset.kind].build(**preset.model_dump(exclude={"kind"}))
