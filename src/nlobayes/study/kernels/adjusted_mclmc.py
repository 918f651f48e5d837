"""Settings of microcanonical Hamiltonian Monte Carlo with a Metropolis adjustment."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from nlobayes.settings.values import Positive, PositiveInt
from nlobayes.study.kernel import KernelSettings
from nlobayes.study.warmup import WarmupSettings


class AdjustedMCLMCKernel(KernelSettings):
    """Microcanonical Hamiltonian Monte Carlo with a Metropolis adjustment; exact."""

    warmup: ClassVar[str] = "microcanonical"

    kind: Literal["adjusted_mclmc"]
    most_integration_steps: PositiveInt = 128
    """Most integrator steps per draw, two gradients each."""
    jitter: Annotated[float, Field(ge=0, le=1)] = 1.0
    """Relative half-width of the uniform distribution of the length around the decoherence
    length."""
    divergence_threshold: Positive = 1000.0
    """Energy error above which a draw counts as divergent."""

    def gradients_per_draw(self, warmup: WarmupSettings) -> int:
        """Return two per integrator step."""
        del warmup
        return 2 * self.most_integration_steps
