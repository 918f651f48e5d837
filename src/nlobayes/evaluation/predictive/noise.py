"""The predictive noise at points: a law, and its centre."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from nlobayes.distributions.distribution import Law, Rows
from nlobayes.distributions.mixture import Mixture


class PredictiveNoise(NamedTuple):
    """A law of the error about the function on the model scale, for all points or for each.

    Its centres are the draws of the function, or with `about_mean` their mean.
    """

    law: Law
    about_mean: bool = False


def locate(draws: np.ndarray, noise: PredictiveNoise) -> Mixture:
    """Return the predictive distribution: the law about the draws (sample, point) or their mean."""
    centres = draws.mean(axis=0, keepdims=True) if noise.about_mean else draws
    return Mixture(centres, noise.law)


def select_rows(noise: PredictiveNoise, rows: Rows) -> PredictiveNoise:
    """Return the noise at some of its points."""
    return noise._replace(law=noise.law.at(rows))
