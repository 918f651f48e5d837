"""Settings of HMC with a learned trajectory length."""

from typing import ClassVar, Literal

from nlobayes.settings.values import Positive, PositiveInt
from nlobayes.study.kernel import KernelSettings
from nlobayes.study.warmup import WarmupSettings


class ChEESKernel(KernelSettings):
    """HMC whose trajectory length is learned by many chains together; exact."""

    warmup: ClassVar[str] = "chees"
    fewest_chains: ClassVar[int] = 16

    kind: Literal["chees"]
    most_integration_steps: PositiveInt = 1024
    """Most leapfrog steps per draw."""
    divergence_threshold: Positive = 1000.0
    """Energy error above which a draw counts as divergent."""

    def gradients_per_draw(self, warmup: WarmupSettings) -> int:
        """Return at most one per leapfrog step."""
        del warmup
        return self.most_integration_steps
