"""Settings of exponential slopes."""

from __future__ import annotations

from typing import Literal

from nlobayes.settings.values import Positive
from nlobayes.study.slope import SlopeSettings


class ExponentialSlopes(SlopeSettings):
    """Exponential prior of the slopes of an activation."""

    kind: Literal["exponential"]
    rate: Positive | None = 0.3
    """Inverse mean; null learns one for each layer."""
    hyper_rate: Positive = 0.3
    """Inverse mean of the exponential prior of a learned rate."""

    @property
    def learns_hyperparameters(self) -> bool:
        """Whether its rate is learned."""
        return self.rate is None
