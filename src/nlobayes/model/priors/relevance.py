"""Gaussian weights and biases of learned scales, with one scale for each input, non-centered.

Automatic relevance determination (MacKay 1994, ASHRAE Transactions 100, 1053; Neal 1996, *Bayesian
Learning for Neural Networks*, section 1.2.3): the weights of an irrelevant input shrink together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import sqrt
from typing import Any, NamedTuple

from nlobayes.model.networks import WEIGHTS
from nlobayes.model.prior import Conditional, Parameters, scaled
from nlobayes.model.priors.hierarchical import (
    GammaPrecision,
    HalfCauchy,
    HalfNormal,
    build_hyper,
)

INPUT = "feature"
"""The dimension of the inputs of the first layer."""

Hyper = HalfNormal | HalfCauchy | GammaPrecision


class Relevance(NamedTuple):
    """Weights N(0, s^2 / fan_in) and biases N(0, s^2), the output bias included.

    The scale s of each input follows `inputs`; the one scale of each other array follows `hyper`.
    """

    inputs: Hyper
    hyper: Hyper

    def state(self, parameters: Parameters) -> Any:
        """Define one array, and its scale or scales."""
        name = parameters.name
        if parameters.role != WEIGHTS:
            return scaled(parameters, self.hyper.state(name))
        root = sqrt(parameters.fan_in)
        if parameters.dims[0] != INPUT:
            return scaled(parameters, self.hyper.state(name) / root)
        return scaled(parameters, self.inputs.state(name, dims=INPUT)[:, None] / root)

    def conditionals(self, arrays: Sequence[Parameters]) -> list[Conditional]:
        """Return an empty list."""
        return []


def build(*, inputs: Mapping[str, Any], hyper: Mapping[str, Any]) -> Relevance:
    """Return a prior with learned scales.

    Both settings have the `kind` of their prior and its constants.
    """
    return Relevance(build_hyper(inputs), build_hyper(hyper))
