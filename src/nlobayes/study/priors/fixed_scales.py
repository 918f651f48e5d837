"""Settings of Gaussian weights with one stated scale for each input."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from nlobayes.settings.values import Positive
from nlobayes.study.prior import PriorSettings


class FixedScalesPrior(PriorSettings):
    """Weights and biases of stated scales: one for each input, and one for each other kind.

    `relevance` learns such scales. They can be stated as those of the largest evidence, as
    `benchmarks/infinite_width.py` prints them. Sampled non-centered.
    """

    output_is_gaussian: ClassVar[bool] = True

    kind: Literal["fixed_scales"]
    inputs: Annotated[dict[str, Positive], Field(min_length=1)]
    """Scale of each input by its name, as the features of the dataset are called. The weights of an
    input have its scale divided by the square root of the number of inputs."""
    weights: Positive = 1.0
    """Scale of all further weights, divided by the square root of their fan-in."""
    biases: Positive = 1.0
    """Scale of the hidden biases."""
    output_biases: Positive = 1.0
    """Scale of the biases of the output."""
