"""Settings of Gaussian weights with one learned scale for each input."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from nlobayes.study.prior import PriorSettings
from nlobayes.study.priors._hyper import GammaPrecision, HalfCauchyScale, HalfNormalScale

Hyper = Annotated[HalfNormalScale | HalfCauchyScale | GammaPrecision, Field(discriminator="kind")]


class RelevancePrior(PriorSettings):
    """Weights and biases of learned scales: one for each input, and one for each other array.

    Automatic relevance determination: an input that does not matter gets a small scale. Sampled
    non-centered.
    """

    output_is_gaussian: ClassVar[bool] = True
    learns_hyperparameters: ClassVar[bool] = True

    kind: Literal["relevance"]
    inputs: Hyper = HalfNormalScale(kind="half_normal", scale=2.0)
    """Prior of the scale of each input. The weights of an input have its scale divided by the
    square root of the number of inputs."""
    hyper: Hyper = HalfNormalScale(kind="half_normal", scale=2.0)
    """Prior of the scales of all other weights, divided by the square root of their fan-in, and of
    all biases, including that of the output."""
