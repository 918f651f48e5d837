"""Settings of Laplace weights and biases."""

from __future__ import annotations

from typing import Literal

from nlobayes.study.prior import FanInScaled


class LaplacePrior(FanInScaled):
    """Laplace weights of scale b / sqrt(fan_in), biases of scale b."""

    kind: Literal["laplace"]
