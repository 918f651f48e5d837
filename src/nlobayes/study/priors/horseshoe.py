"""Settings of the regularised horseshoe."""

from __future__ import annotations

from typing import ClassVar, Literal

from nlobayes.settings.values import Positive
from nlobayes.study.prior import PriorSettings


class HorseshoePrior(PriorSettings):
    """The regularised horseshoe: most weights near zero, few large; biases are Gaussian."""

    output_is_gaussian: ClassVar[bool] = True
    learns_hyperparameters: ClassVar[bool] = True

    kind: Literal["horseshoe"]
    global_scale: Positive = 1.0
    """Median of the scale that the weights of a layer share, before 1 / sqrt(fan_in)."""
    slab_scale: Positive = 2.0
    """Scale of the few large weights (the slab)."""
    slab_degrees: Positive = 4.0
    """Degrees of freedom of the slab."""
    bias_scale: Positive = 1.0
    """Sd of the hidden biases."""
