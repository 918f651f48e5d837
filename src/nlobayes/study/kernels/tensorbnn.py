"""Settings of HMC whose step size and number of steps are both learned."""

from typing import ClassVar, Literal

from nlobayes.settings.values import Positive
from nlobayes.study.kernel import KernelSettings
from nlobayes.study.warmup import WarmupSettings


class TensorBNNKernel(KernelSettings):
    """HMC whose step size and number of steps are learned by Bayesian optimisation; exact."""

    warmup: ClassVar[str] = "bayesian_optimisation"

    kind: Literal["tensorbnn"]
    divergence_threshold: Positive = 1000.0
    """Energy error above which a draw counts as divergent."""

    def gradients_per_draw(self, warmup: WarmupSettings) -> int:
        """Return one per leapfrog step, for the most steps that the warm-up may choose."""
        return warmup.most_learned_steps
