"""Gaussian weights and biases of learned scales, with one scale for each input, non-centered.

Automatic relevance determination (MacKay 1994, ASHRAE Transactions 100, 1053; Neal 1996, *Bayesian
Learning for Neural Networks*, section 1.2.3): the weights of an irrelevant input shrink together.
"""

from __future__ import annotations

from math import sqrt
from typing import ClassVar, Literal

from nlobayes.model.networks import WEIGHTS
from nlobayes.model.prior import INPUT, Parameters, scaled
from nlobayes.priors import PriorSettings
from nlobayes.priors.hierarchical import HalfNormalScale, Hyper
from nlobayes.untyped import Array


class RelevancePrior(PriorSettings):
    """Weights and biases of learned scales, one for each input and each other array.

    Automatic relevance determination, sampled non-centered.
    """

    output_is_gaussian: ClassVar[bool] = True
    learns_hyperparameters: ClassVar[bool] = True

    kind: Literal["relevance"]
    inputs: Hyper = HalfNormalScale(kind="half_normal", scale=2.0)
    """Prior of the scale of each input, divided by the square root of their number."""
    hyper: Hyper = HalfNormalScale(kind="half_normal", scale=2.0)
    """Prior of the scales of all other weights, divided by the square root of their fan-in, and of
    all biases."""

    def state(self, parameters: Parameters) -> Array:
        """Define one array, and its scale or scales."""
        name = parameters.name
        if parameters.role != WEIGHTS:
            return scaled(parameters, self.hyper.state(name))
        root = sqrt(parameters.fan_in)
        if parameters.dims[0] != INPUT:
            return scaled(parameters, self.hyper.state(name) / root)
        return scaled(parameters, self.inputs.state(name, dims=INPUT)[:, None] / root)
