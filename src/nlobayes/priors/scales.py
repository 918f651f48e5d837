"""Learned scales of inputs, hidden biases and outputs, and warps of the inputs.

They are all parameters of an infinitely wide network. A finite network with this prior has fixed
random directions, which converge to the same Gaussian process as their number grows.
"""

from __future__ import annotations

from math import sqrt
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from nlobayes.model.infinite import BIASES, COSINES, EXPONENTS, INPUTS, OUTPUT, Warp
from nlobayes.model.networks import WEIGHTS
from nlobayes.model.prior import INPUT, OUTPUT_BIAS_SCALE, Parameters, scaled
from nlobayes.priors import PriorSettings
from nlobayes.priors.hierarchical import LogNormalScale
from nlobayes.priors.random_features import fixed_directions
from nlobayes.settings.values import Positive
from nlobayes.untyped import Array


class ScalesPrior(PriorSettings):
    """Log-normal scales of each input, of the hidden biases and of the output.

    For `width: infinite`, which also warps inputs, or a wide network with `output: marginalised`
    and fixed random directions.
    """

    output_is_gaussian: ClassVar[bool] = True
    learns_hyperparameters: ClassVar[bool] = True

    kind: Literal["scales"]
    inputs: LogNormalScale = LogNormalScale(kind="log_normal", median=0.5, log_sd=1.5)
    """Prior of the scale of each standardised input; with `cosines`, of the frequencies of these
    units along it, which is smaller by sqrt(b^2 + 1/2) with the scale b of the biases."""
    biases: LogNormalScale = LogNormalScale(kind="log_normal", median=1.0, log_sd=1.0)
    """Prior of the scale of the hidden biases."""
    output: LogNormalScale = LogNormalScale(kind="log_normal", median=2.0, log_sd=1.0)
    """Prior of the scale of the output weights times the square root of the width; the output
    bias is N(0, 1)."""
    cosines: Annotated[LogNormalScale | None, Field(exclude_if=lambda value: value is None)] = None
    """Prior of the scale of cosine units beside those of the activation, of an infinite width
    alone: smooth functions, such as those of a Gaussian process with the kernel `rbf`. null: there
    are none."""
    warp_sd: Positive | None = 0.5
    """Sd of the exponent of each positive input about 1; 0 is the logarithm, null leaves inputs as
    they are."""
    seed: Annotated[int, Field(ge=0, lt=2**32)] = 1
    """Seed of the directions of a finite network."""

    def state(self, parameters: Parameters) -> Array:
        """Define an array of a finite network: output weights, or scaled fixed directions."""
        import pymc as pm

        name, root = parameters.name, sqrt(parameters.fan_in)
        if parameters.role != WEIGHTS:
            if parameters.output:
                return scaled(parameters, OUTPUT_BIAS_SCALE)
            scale = self.biases.state(name)
        elif parameters.dims[0] == INPUT and not parameters.output:
            scale = self.inputs.state(name, dims=INPUT)[:, None]
        else:
            scale = self.output.state(name) / root
        if parameters.output:
            return scaled(parameters, scale)
        fixed = fixed_directions(parameters, self.seed)
        return pm.Deterministic(name, scale * fixed, dims=parameters.dims)

    def state_scales(self, warp: Warp) -> dict[str, Array]:
        """Define the scales of an infinite width, and the exponents where inputs are warped.

        With cosine units the scales of their frequencies, s / sqrt(b^2 + 1/2), are sampled, which
        the rows determine whatever the scale b of the biases is.
        """
        import pymc as pm
        import pytensor.tensor as pt
        from pymc.pytensorf import floatX

        stated = {
            INPUTS: self.inputs.state("inputs" if self.cosines is None else "frequencies", INPUT),
            BIASES: self.biases.state("biases"),
            OUTPUT: self.output.state("output"),
        }
        if self.cosines is not None:
            stated[COSINES] = self.cosines.state("cosines")
            of_activation = stated[INPUTS] * pt.sqrt(stated[BIASES] ** 2 + 0.5)
            stated[INPUTS] = pm.Deterministic(INPUTS, of_activation, dims=INPUT)
        if self.warp_sd is not None and (warp.ratios > 0).any():
            stated[EXPONENTS] = pm.Normal(EXPONENTS, 1.0, floatX(self.warp_sd), dims=INPUT)
        return stated
