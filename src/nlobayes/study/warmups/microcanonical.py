"""Settings of the warm-up of microcanonical kernels."""

from typing import Literal

from nlobayes.settings.values import Fraction, Positive
from nlobayes.study.warmup import WarmupSettings


class MicrocanonicalWarmup(WarmupSettings):
    """Preconditioner by windows, step size by energy error, for `mclmc` and `adjusted_mclmc`."""

    kind: Literal["microcanonical"] = "microcanonical"
    energy_variance: Positive = 5e-4
    """Target of `mclmc` for the energy variance per dimension and step; its bias falls with it."""
    target_acceptance: Fraction = 0.9
    """Target of `adjusted_mclmc` for the mean acceptance."""
    length_factor: Positive = 1.0
    """Decoherence length in units of the square root of the number of parameters."""

    @property
    def aimed_energy_variance(self) -> float:
        """Target of the energy variance per dimension and step of an unadjusted kernel."""
        return self.energy_variance
