"""Settings of the warm-up of a ladder of temperatures."""

from typing import Literal

from nlobayes.settings.values import Fraction
from nlobayes.study.warmup import WarmupSettings


class LadderWarmup(WarmupSettings):
    """Step size, mass matrix and temperature of every rung of a ladder, for `tempering`."""

    kind: Literal["ladder"] = "ladder"
    target_acceptance: Fraction = 0.7
    """Target of the mean acceptance of HMC on every rung."""
