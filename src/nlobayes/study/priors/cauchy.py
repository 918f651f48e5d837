"""Settings of Cauchy weights and biases."""

from __future__ import annotations

from typing import Literal

from nlobayes.study.prior import FanInScaled


class CauchyPrior(FanInScaled):
    """Cauchy weights of scale / fan_in, biases of scale; few chains mix in its tails."""

    kind: Literal["cauchy"]
