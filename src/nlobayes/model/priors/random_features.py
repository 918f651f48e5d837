"""Hidden weights of fixed random directions, with learned scales: one for each input.

The directions are drawn once, so that only the scales and the output layer are parameters: a random
feature model (Rahimi and Recht 2007, NIPS 20, 1177). As its width grows it converges to the same
Gaussian process as a network whose hidden weights are free (Neal 1996, *Bayesian Learning for
Neural Networks*, chapter 2).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import sqrt
from typing import Any, NamedTuple

import numpy as np
import pymc as pm
import pytensor.tensor as pt

from nlobayes.model.networks import WEIGHTS
from nlobayes.model.prior import OUTPUT_BIAS_SCALE, Conditional, Parameters, scaled
from nlobayes.model.priors.hierarchical import build_hyper
from nlobayes.model.priors.relevance import INPUT, Hyper


class RandomFeatures(NamedTuple):
    """Hidden weights s z / sqrt(fan_in) and hidden biases b z with fixed standard normals z.

    Output weights are N(0, s^2 / fan_in), and the output bias is N(0, 1). The scale s of each input
    follows `inputs`; the one scale of the weights of each further layer follows `hyper`. b is
    `biases`, and `seed` gives z.
    """

    inputs: Hyper
    hyper: Hyper
    biases: float
    seed: int

    def state(self, parameters: Parameters) -> Any:
        """Define one array, and the scales of weights."""
        name, dims = parameters.name, parameters.dims
        if parameters.role != WEIGHTS and parameters.output:
            return scaled(parameters, OUTPUT_BIAS_SCALE)
        scale = self._scale(parameters) if parameters.role == WEIGHTS else self.biases
        if parameters.output:
            return scaled(parameters, scale)
        return pm.Deterministic(name, pt.as_tensor(scale * self._directions(parameters)), dims=dims)

    def _scale(self, parameters: Parameters) -> Any:
        """Define the scale of weights, or those of the weights of each input (input, 1)."""
        root = sqrt(parameters.fan_in)
        if parameters.dims[0] == INPUT:
            return self.inputs.state(parameters.name, dims=INPUT)[:, None] / root
        return self.hyper.state(parameters.name) / root

    def _directions(self, parameters: Parameters) -> np.ndarray:
        """Draw the fixed standard normals of one array; its name separates it from the others."""
        coords = pm.modelcontext(None).coords
        shape = [len(coords[dim]) for dim in parameters.dims]
        rng = np.random.default_rng([self.seed, *parameters.name.encode()])
        drawn: np.ndarray = pm.floatX(rng.standard_normal(shape))
        return drawn

    def conditionals(self, arrays: Sequence[Parameters]) -> list[Conditional]:
        """Return an empty list."""
        return []


def build(
    *, inputs: Mapping[str, Any], hyper: Mapping[str, Any], biases: float, seed: int
) -> RandomFeatures:
    """Return a prior with learned scales of fixed directions.

    The first two settings have the `kind` of their prior and its constants.
    """
    return RandomFeatures(build_hyper(inputs), build_hyper(hyper), biases, seed)
