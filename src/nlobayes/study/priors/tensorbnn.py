"""Settings of TensorBNN's hyper-priors."""

from __future__ import annotations

from typing import ClassVar, Literal

from nlobayes.settings.values import Positive
from nlobayes.study.prior import PriorSettings


class TensorBNNPrior(PriorSettings):
    """TensorBNN's hyper-priors: N(a, b^2) of each layer with a ~ N(0, 0.1^2), b ~ N(1, 0.1^2)."""

    output_is_gaussian: ClassVar[bool] = True
    learns_hyperparameters: ClassVar[bool] = True

    kind: Literal["tensorbnn"]
    mean_sd: Positive = 0.1
    """Sd of a."""
    scale_mean: Positive = 1.0
    """Mean of b."""
    scale_sd: Positive = 0.1
    """Sd of b."""

    @property
    def is_conjugate(self) -> bool:
        """Return True: the means can be drawn exactly given their scales."""
        return True
