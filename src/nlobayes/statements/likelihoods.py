"""Presets of likelihoods become what observes the target and knows what outputs mean."""

from __future__ import annotations

from typing import Any

from nlobayes.model import classes, likelihoods
from nlobayes.study import likelihoods as presets

LIKELIHOODS: dict[str, Any] = {
    "tolerance": likelihoods.Gaussian,
    "student_t": likelihoods.StudentT,
    "laplace": likelihoods.Laplace,
    "heteroscedastic": likelihoods.Heteroscedastic,
    "bernoulli": classes.Bernoulli,
    "categorical": classes.Categorical,
}


def build_likelihood(preset: presets.Likelihood) -> likelihoods.Likelihood:
    """Build the likelihood."""
    if isinstance(preset, presets.LearnedNoiseLikelihood):
        return likelihoods.Gaussian(None, preset.scale)
    return LIKELIHOODS[preset.kind](**preset.model_dump(exclude={"kind"}))
