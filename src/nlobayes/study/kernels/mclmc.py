"""Settings of microcanonical Langevin Monte Carlo."""

from typing import ClassVar, Literal

from nlobayes.settings.values import PositiveInt
from nlobayes.study.kernel import KernelSettings
from nlobayes.study.warmup import WarmupSettings


class MCLMCKernel(KernelSettings):
    """Microcanonical Langevin dynamics without adjustment; NOT exact, its bias is checked."""

    warmup: ClassVar[str] = "microcanonical"
    exact: ClassVar[bool] = False

    kind: Literal["mclmc"]
    integration_steps: PositiveInt = 32
    """Integrator steps per draw, two gradients each."""

    @property
    def fixed_integration_steps(self) -> int:
        """Integrator steps per draw."""
        return self.integration_steps

    def gradients_per_draw(self, warmup: WarmupSettings) -> int:
        """Return two per integrator step."""
        del warmup
        return 2 * self.integration_steps
