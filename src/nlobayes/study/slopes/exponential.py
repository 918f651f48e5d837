"""Settings of exponential slopes."""

from __future__ import annotations

from typing import Literal

from nlobayes.study.slope import SlopeSettings
from nlobayes.study.values import Positive


class ExponentialSlopes(SlopeSettings):
    """Slopes of an activation are exponential."""

    kind: Literal["exponential"]
    rate: Positive | None = 0.3
    """Inverse mean; null learns it, for each layer."""
    hyper_rate: Positive = 0.3
    """Inverse mean of a learned rate, itself exponential."""

    @property
    def learns_hyperparameters(self) -> bool:
        """Whether its rate is learned."""
        return self.rate is None
