"""Settings of Student-t weights and biases."""

from __future__ import annotations

from typing import Literal

from nlobayes.settings.values import Positive
from nlobayes.study.prior import FanInScaled


class StudentTPrior(FanInScaled):
    """Student-t weights of scale / fan_in^(1/2), fan_in^(1/nu) where nu < 2."""

    kind: Literal["student_t"]
    degrees_of_freedom: Positive = 4.0
    """nu; small values have heavy tails, 1 is Cauchy."""
