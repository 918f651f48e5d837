"""Settings of fixed random hidden weights with one learned scale for each input."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from nlobayes.settings.values import Positive
from nlobayes.study.prior import PriorSettings
from nlobayes.study.priors._hyper import HalfCauchyScale, HalfNormalScale
from nlobayes.study.priors.relevance import Hyper


class RandomFeaturesPrior(PriorSettings):
    """Hidden weights of fixed random directions and learned scales, fixed hidden biases.

    The directions are drawn once, by `seed`. Parameters are one scale for each input, one for the
    weights of each further layer, and the output layer. With a wide layer and `output:
    marginalised` only the scales are sampled. Their chains agree at tolerances at which those of
    free hidden weights do not.
    """

    output_is_gaussian: ClassVar[bool] = True
    learns_hyperparameters: ClassVar[bool] = True

    kind: Literal["random_features"]
    inputs: Hyper = HalfNormalScale(kind="half_normal", scale=2.0)
    """Prior of the scale of each input. The weights of an input have its scale divided by the
    square root of the number of inputs."""
    hyper: Hyper = HalfCauchyScale(kind="half_cauchy", scale=2.0)
    """Prior of the scale of the weights of each further layer, divided by the square root of their
    fan-in. The output bias is N(0, 1)."""
    biases: Positive = 1.0
    """Scale of the hidden biases."""
    seed: Annotated[int, Field(ge=0, lt=2**32)] = 1
    """Seed of the directions; all chains share them."""
