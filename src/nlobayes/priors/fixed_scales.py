"""Gaussian weights and biases of stated scales, with one scale for each input, non-centered.

A network of one hidden layer approaches a Gaussian process as its width grows (Neal 1996, *Bayesian
Learning for Neural Networks*, chapter 2). This prior takes the scales that maximise the evidence of
that process (type-II maximum likelihood; MacKay 1992, Neural Computation 4, 448).
"""

from __future__ import annotations

from math import sqrt
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from nlobayes.errors import InputError
from nlobayes.model.networks import WEIGHTS
from nlobayes.model.prior import INPUT, Parameters, scaled
from nlobayes.priors import PriorSettings
from nlobayes.settings.values import Positive
from nlobayes.untyped import Array


class FixedScalesPrior(PriorSettings):
    """Weights and biases of stated scales, one for each input and each other kind.

    `benchmarks/infinite_width.py` prints those of the largest evidence. Sampled non-centered.
    """

    output_is_gaussian: ClassVar[bool] = True

    kind: Literal["fixed_scales"]
    inputs: Annotated[dict[str, Positive], Field(min_length=1)]
    """Scale of each input by its name, divided by the square root of the number of inputs."""
    weights: Positive = 1.0
    """Scale of all further weights, divided by the square root of their fan-in."""
    biases: Positive = 1.0
    """Scale of the hidden biases."""
    output_biases: Positive = 1.0
    """Scale of the biases of the output."""

    def state(self, parameters: Parameters) -> Array:
        """Define one array N(0, s^2 / fan_in) of weights, or N(0, s^2) of biases.

        Raises InputError if the inputs of the network differ from those with stated scales.
        """
        if parameters.role != WEIGHTS:
            return scaled(parameters, self.output_biases if parameters.output else self.biases)
        root = sqrt(parameters.fan_in)
        if parameters.dims[0] != INPUT:
            return scaled(parameters, self.weights / root)
        return scaled(parameters, self._scales_of_inputs()[:, None] / root)

    def _scales_of_inputs(self) -> Array:
        """List the scales (feature,) in the order of the network's inputs."""
        import numpy as np
        import pymc as pm

        names = [str(name) for name in pm.modelcontext(None).coords[INPUT]]
        if sorted(names) != sorted(self.inputs):
            raise InputError(
                "model.scales_of_other_inputs",
                given=", ".join(sorted(self.inputs)),
                inputs=", ".join(names),
            )
        return np.array([self.inputs[name] for name in names])
