"""Noise of a known law, for tests of scores."""

from typing import Any

from nlobayes.distributions.laws import LAWS
from nlobayes.evaluation.predictive.predictive_density import PredictiveNoise


def make_noise(law: str, scale: Any, degrees_of_freedom: float = 4.0) -> PredictiveNoise:
    """A law about every draw; a Student-t has 4 degrees of freedom unless others are given."""
    known = LAWS[law].build(scale=scale, degrees_of_freedom=degrees_of_freedom)
    return PredictiveNoise(known)
