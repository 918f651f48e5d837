"""Settings of Gaussian weights whose variance falls with the fan-in."""

from __future__ import annotations

from typing import ClassVar, Literal

from nlobayes.study.prior import FanInScaled


class FanInPrior(FanInScaled):
    """Weights N(0, scale^2 / fan_in), hidden biases N(0, scale^2), output bias N(0, 1).

    Sampled non-centered, in units of the prior sd.
    """

    output_is_gaussian: ClassVar[bool] = True

    kind: Literal["fan_in"]
