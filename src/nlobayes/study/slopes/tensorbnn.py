"""Settings of TensorBNN's slopes."""

from __future__ import annotations

from typing import Literal

from nlobayes.study.slope import SlopeSettings


class TensorBNNSlopes(SlopeSettings):
    """TensorBNN's prior: slopes N(a, b^2) of each layer with a ~ N(0, 0.3^2), b ~ N(0.3, 0.1^2)."""

    kind: Literal["tensorbnn"]

    @property
    def learns_hyperparameters(self) -> bool:
        """Whether it learns more than the slopes: True for means and scales."""
        return True
