"""Settings of Gaussian weights and biases of the same variance, whatever the width."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal

from nlobayes.settings.values import Positive
from nlobayes.study.prior import PriorSettings


class GaussianPrior(PriorSettings):
    """All weights and biases N(0, 1 / precision), whatever the width."""

    RENAMED: ClassVar[Mapping[str, str]] = {"whitened": "non_centered"}

    output_is_gaussian: ClassVar[bool] = True

    kind: Literal["gaussian"]
    precision: Positive = 1.0
    """Inverse variance of every weight, and of every bias."""
    bias_precision: Positive | None = None
    """Inverse variance of every bias; null: `precision`."""
    non_centered: bool = True
    """Sample the weights in units of their prior sd."""
