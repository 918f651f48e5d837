"""Settings of TensorBNN's Cauchy layer."""

from __future__ import annotations

from typing import ClassVar, Literal

from nlobayes.settings.values import Positive
from nlobayes.study.prior import PriorSettings


class TensorBNNCauchyPrior(PriorSettings):
    """Cauchy of location x and scale g of each layer, x ~ N(0, 0.2^2), g ~ N(0.5, 0.5^2), g > 0."""

    learns_hyperparameters: ClassVar[bool] = True

    kind: Literal["tensorbnn_cauchy"]
    location_sd: Positive = 0.2
    """Sd of x."""
    scale_mean: Positive = 0.5
    """Mean of g before truncation at zero."""
    scale_sd: Positive = 0.5
    """Sd of g before truncation at zero."""
