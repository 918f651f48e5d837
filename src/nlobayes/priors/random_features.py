"""Hidden weights of fixed random directions, with learned scales: one for each input.

The directions are drawn once, so that only the scales and the output layer are parameters: a random
feature model (Rahimi and Recht 2007, NIPS 20, 1177). As its width grows it converges to the same
Gaussian process as a network whose hidden weights are free (Neal 1996, *Bayesian Learning for
Neural Networks*, chapter 2).
"""

from __future__ import annotations

from math import sqrt
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from nlobayes.model.networks import WEIGHTS
from nlobayes.model.prior import INPUT, OUTPUT_BIAS_SCALE, Parameters, scaled
from nlobayes.priors import PriorSettings
from nlobayes.priors.hierarchical import HalfCauchyScale, HalfNormalScale, Hyper
from nlobayes.settings.values import Positive
from nlobayes.untyped import Array


class RandomFeaturesPrior(PriorSettings):
    """Hidden weights of fixed random directions and learned scales, fixed hidden biases.

    With a wide layer and `output: marginalised` only the scales are sampled.
    """

    output_is_gaussian: ClassVar[bool] = True
    learns_hyperparameters: ClassVar[bool] = True

    kind: Literal["random_features"]
    inputs: Hyper = HalfNormalScale(kind="half_normal", scale=2.0)
    """Prior of the scale of each input, divided by the square root of their number."""
    hyper: Hyper = HalfCauchyScale(kind="half_cauchy", scale=2.0)
    """Prior of the scale of the weights of each further layer, divided by the square root of their
    fan-in."""
    biases: Positive = 1.0
    """Scale of the hidden biases."""
    seed: Annotated[int, Field(ge=0, lt=2**32)] = 1
    """Seed of the directions; all chains share them."""

    def state(self, parameters: Parameters) -> Array:
        """Define one array and the scales of weights: s z / sqrt(fan_in), with z fixed if hidden.

        Hidden biases are `biases` times z; output weights are N(0, s^2 / fan_in).
        """
        import pymc as pm
        import pytensor.tensor as pt

        name, dims = parameters.name, parameters.dims
        if parameters.role != WEIGHTS and parameters.output:
            return scaled(parameters, OUTPUT_BIAS_SCALE)
        scale = self._scale(parameters) if parameters.role == WEIGHTS else self.biases
        if parameters.output:
            return scaled(parameters, scale)
        directions = fixed_directions(parameters, self.seed)
        return pm.Deterministic(name, pt.as_tensor(scale * directions), dims=dims)

    def _scale(self, parameters: Parameters) -> Array:
        """Define the scale of weights, or those of the weights of each input (input, 1)."""
        root = sqrt(parameters.fan_in)
        if parameters.dims[0] == INPUT:
            return self.inputs.state(parameters.name, dims=INPUT)[:, None] / root
        return self.hyper.state(parameters.name) / root


def fixed_directions(parameters: Parameters, seed: int) -> Array:
    """Draw the fixed standard normals of one array; its name separates it from the others."""
    import numpy as np
    import pymc as pm
    from pymc.pytensorf import floatX

    coords = pm.modelcontext(None).coords
    rng = np.random.default_rng([seed, *parameters.name.encode()])
    return floatX(rng.standard_normal([len(coords[dim]) for dim in parameters.dims]))
