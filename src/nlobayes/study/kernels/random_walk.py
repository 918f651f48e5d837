"""Settings of random-walk Metropolis."""

from typing import ClassVar, Literal

from nlobayes.errors import InputError
from nlobayes.study.kernel import KernelSettings
from nlobayes.study.warmup import WarmupSettings


class RandomWalkKernel(KernelSettings):
    """Random-walk Metropolis; exact, needs no gradient, slow in many dimensions."""

    warmup: ClassVar[str] = "windows"

    kind: Literal["random_walk"]

    def gradients_per_draw(self, warmup: WarmupSettings) -> int:
        """Count the one density as a gradient."""
        del warmup
        return 1

    def check_warmup(self, warmup: WarmupSettings) -> None:
        """Refuse a mass matrix that needs gradients."""
        if warmup.form_of_mass_matrix == "low_rank":
            raise InputError("study.low_rank_without_gradients", where="warmup.mass_matrix")
