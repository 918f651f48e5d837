"""Settings of normal slopes."""

from __future__ import annotations

from typing import Literal

from nlobayes.settings.values import Positive
from nlobayes.study.slope import SlopeSettings


class NormalSlopes(SlopeSettings):
    """Prior N(mean, sd^2) of the slopes of an activation."""

    kind: Literal["normal"]
    mean: float = 0.2
    """Mean of every slope."""
    sd: Positive = 0.3
    """Standard deviation of every slope."""
