"""Settings of TensorBNN's slopes."""

from __future__ import annotations

from typing import Literal

from nlobayes.study.slope import SlopeSettings


class TensorBNNSlopes(SlopeSettings):
    """Slopes N(a, b^2) of each layer with a ~ N(0, 0.3^2), b ~ N(0.3, 0.1^2): TensorBNN's."""

    kind: Literal["tensorbnn"]

    @property
    def learns_hyperparameters(self) -> bool:
        """Its means and scales are."""
        return True
