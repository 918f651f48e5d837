"""Settings of the Gaussian likelihood."""

from __future__ import annotations

from typing import ClassVar, Literal

from nlobayes.settings.values import Positive
from nlobayes.study.likelihood import ScaledLikelihood


class GaussianLikelihood(ScaledLikelihood):
    """Gaussian with a stated or learned sigma; chains rarely mix with a learned one without noise.

    A stated sigma on noise-free targets is a tolerance.
    """

    is_gaussian: ClassVar[bool] = True

    kind: Literal["gaussian"]
    sigma: Positive | None
    """In the units of the network's target (its sd on train rows if standardised); null learns
    it, half-normal a priori."""
