"""Settings of Gaussian weights and biases whose scales are learned."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from nlobayes.study.prior import PriorSettings
from nlobayes.study.priors._hyper import GammaPrecision, HalfCauchyScale, HalfNormalScale


class HierarchicalPrior(PriorSettings):
    """Weights N(0, s^2 / fan_in) and biases N(0, t^2) with learned s and t; output bias N(0, 1)."""

    output_is_gaussian: ClassVar[bool] = True
    learns_hyperparameters: ClassVar[bool] = True

    kind: Literal["hierarchical"]
    hyper: Annotated[
        HalfNormalScale | HalfCauchyScale | GammaPrecision, Field(discriminator="kind")
    ] = HalfNormalScale(kind="half_normal")
    """Prior of the scales."""
    shared: Literal["layer", "network"] = "layer"
    """Whether each layer has an s and a t, or all share them."""

    @property
    def is_conjugate(self) -> bool:
        """Whether its scales can be drawn given the weights."""
        return self.hyper.is_conjugate
