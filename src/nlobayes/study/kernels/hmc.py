"""Settings of Hamiltonian Monte Carlo."""

from typing import ClassVar, Literal

from nlobayes.settings.values import Jitter, Positive, PositiveInt
from nlobayes.study.kernel import KernelSettings
from nlobayes.study.warmup import WarmupSettings


class HMCKernel(KernelSettings):
    """Hamiltonian Monte Carlo with a fixed number of leapfrog steps, or a fixed length; exact."""

    warmup: ClassVar[str] = "windows"

    kind: Literal["hmc"]
    integration_steps: PositiveInt = 256
    """Leapfrog steps per draw; with `trajectory_length`, the most steps."""
    jitter: Jitter = 0.2
    """Relative half-width of the uniform distribution of the number of steps, or of the length."""
    trajectory_length: Positive | None = None
    """Step size times steps, in units of the mass matrix; null fixes the number of steps."""
    divergence_threshold: Positive = 1000.0
    """Energy error above which a draw counts as divergent."""

    @property
    def fixed_integration_steps(self) -> int:
        """Leapfrog steps per draw."""
        return self.integration_steps

    def gradients_per_draw(self, warmup: WarmupSettings) -> int:
        """Return one per leapfrog step."""
        del warmup
        return self.integration_steps
