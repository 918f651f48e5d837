"""Gaussian weights and biases of stated scales, with one scale for each input, non-centered.

A network of one hidden layer approaches a Gaussian process as its width grows (Neal 1996, *Bayesian
Learning for Neural Networks*, chapter 2). This prior takes the scales that maximise the evidence of
that process (type-II maximum likelihood; MacKay 1992, Neural Computation 4, 448).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import sqrt
from typing import Any, NamedTuple

import numpy as np
import pymc as pm

from nlobayes.errors import InputError
from nlobayes.model.networks import WEIGHTS
from nlobayes.model.prior import Conditional, Parameters, scaled
from nlobayes.model.priors.relevance import INPUT


class FixedScales(NamedTuple):
    """Weights N(0, s^2 / fan_in) and biases N(0, s^2) with fixed s; each input has its own s."""

    inputs: Mapping[str, float]
    weights: float
    biases: float
    output_biases: float

    def state(self, parameters: Parameters) -> Any:
        """Define one array.

        Raises
        ------
        InputError
            If the inputs of the network differ from those with stated scales.
        """
        if parameters.role != WEIGHTS:
            return scaled(parameters, self.output_biases if parameters.output else self.biases)
        root = sqrt(parameters.fan_in)
        if parameters.dims[0] != INPUT:
            return scaled(parameters, self.weights / root)
        return scaled(parameters, self._of_inputs()[:, None] / root)

    def _of_inputs(self) -> np.ndarray:
        """List the scales (feature,) in the order of the network's inputs."""
        names = [str(name) for name in pm.modelcontext(None).coords[INPUT]]
        if sorted(names) != sorted(self.inputs):
            raise InputError(
                "model.scales_of_other_inputs",
                given=", ".join(sorted(self.inputs)),
                inputs=", ".join(names),
            )
        return np.array([self.inputs[name] for name in names])

    def conditionals(self, arrays: Sequence[Parameters]) -> list[Conditional]:
        """Return an empty list."""
        return []


def build(
    *, inputs: Mapping[str, float], weights: float, biases: float, output_biases: float
) -> FixedScales:
    """Return a prior with these scales."""
    return FixedScales(inputs, weights, biases, output_biases)
