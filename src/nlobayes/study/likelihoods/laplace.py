"""Settings of the Laplace likelihood."""

from __future__ import annotations

from typing import Literal

from nlobayes.settings.values import Positive
from nlobayes.study.likelihood import ScaledLikelihood


class LaplaceLikelihood(ScaledLikelihood):
    """Laplace; chains rarely mix with a learned scale on noise-free targets."""

    kind: Literal["laplace"]
    sigma: Positive | None = None
    """Scale b of exp(-|y - f| / b), in the units of the network's target; null learns it."""
