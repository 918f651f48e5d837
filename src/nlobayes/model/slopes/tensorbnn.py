"""Slopes of TensorBNN: each layer has a learned mean and a learned scale."""

from __future__ import annotations

from typing import Any, NamedTuple

from nlobayes.model.prior import Parameters
from nlobayes.model.priors.tensorbnn import TensorBNN


class TensorBNNSlopes(NamedTuple):
    """Slopes N(a, b^2) of each layer, with a ~ N(0, 0.3^2) and b ~ N(0.3, 0.1^2), b > 0.

    TensorBNN's prior of SquarePReLU, with the constants of its code, which its Table 4 swaps.
    """

    mean_sd: float = 0.3
    scale_mean: float = 0.3
    scale_sd: float = 0.1

    def state(self, parameters: Parameters) -> Any:
        """Define the slopes of one layer, their mean and their scale."""
        return TensorBNN(*self).state(parameters)


build = TensorBNNSlopes
