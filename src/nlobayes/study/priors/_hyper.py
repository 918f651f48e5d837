"""Settings of the priors of learned scales."""

from __future__ import annotations

from typing import ClassVar, Literal

from nlobayes.settings.values import Frozen, Positive


class HalfNormalScale(Frozen):
    """Half-normal scales."""

    is_conjugate: ClassVar[bool] = False

    kind: Literal["half_normal"]
    scale: Positive = 1.0
    """Their scale."""


class HalfCauchyScale(Frozen):
    """Half-Cauchy scales."""

    is_conjugate: ClassVar[bool] = True

    kind: Literal["half_cauchy"]
    scale: Positive = 1.0
    """Their median."""


class GammaPrecision(Frozen):
    """Gamma precisions: inverse squares of scales."""

    is_conjugate: ClassVar[bool] = True

    kind: Literal["gamma_precision"]
    shape: Positive = 1.0
    """Their shape."""
    rate: Positive = 1.0
    """Their rate; shape / rate is their mean."""
