"""Settings of Gibbs sampling within Hamiltonian Monte Carlo."""

from typing import ClassVar, Literal

from nlobayes.errors import InputError
from nlobayes.settings.values import Jitter, Positive, PositiveInt
from nlobayes.study.kernel import KernelSettings
from nlobayes.study.warmup import WarmupSettings


class GibbsHMCKernel(KernelSettings):
    """HMC of the weights, then exact draws of the conjugate hyperparameters; exact."""

    warmup: ClassVar[str] = "windows"

    kind: Literal["gibbs_hmc"]
    integration_steps: PositiveInt = 256
    """Leapfrog steps per draw, at fixed hyperparameters."""
    jitter: Jitter = 0.2
    """Relative half-width of the uniform distribution of the number of steps around
    `integration_steps`."""
    divergence_threshold: Positive = 1000.0
    """Energy error above which a draw counts as divergent."""

    @property
    def fixed_integration_steps(self) -> int:
        """Leapfrog steps per draw."""
        return self.integration_steps

    def gradients_per_draw(self, warmup: WarmupSettings) -> int:
        """Count one per leapfrog step, and one after the draw of the hyperparameters."""
        del warmup
        return self.integration_steps + 1

    def check_warmup(self, warmup: WarmupSettings) -> None:
        """Refuse a mass matrix that cannot be restricted to the weights."""
        if warmup.form_of_mass_matrix == "low_rank":
            raise InputError("study.low_rank_cut", where="warmup.mass_matrix")
