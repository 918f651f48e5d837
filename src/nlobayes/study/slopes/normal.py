"""Settings of normal slopes."""

from __future__ import annotations

from typing import Literal

from nlobayes.study.slope import SlopeSettings
from nlobayes.study.values import Positive


class NormalSlopes(SlopeSettings):
    """Slopes of an activation are N(mean, sd^2)."""

    kind: Literal["normal"]
    mean: float = 0.2
    """Of every slope."""
    sd: Positive = 0.3
    """Of every slope."""
