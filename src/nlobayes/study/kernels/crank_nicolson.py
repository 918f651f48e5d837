"""Settings of preconditioned Crank-Nicolson moves of wide layers."""

from typing import ClassVar, Literal

from nlobayes.settings.values import PositiveInt
from nlobayes.study.kernel import KernelSettings
from nlobayes.study.warmup import WarmupSettings

EVALUATIONS_PER_SLICE = 8


class CrankNicolsonKernel(KernelSettings):
    """Crank-Nicolson moves of the weights, slice moves of all other entries; exact, no gradient.

    For wide layers whose output is marginalised. The posterior of their weights is near the prior,
    and the acceptance does not fall with the width. A good acceptance is about 0.3.
    """

    warmup: ClassVar[str] = "windows"

    kind: Literal["crank_nicolson"]
    moves: PositiveInt = 32
    """Proposals for the weights per draw."""
    slices: PositiveInt = 4
    """Slice moves of scales, noise and all other parameters per draw, each along a random
    direction."""

    def gradients_per_draw(self, warmup: WarmupSettings) -> int:
        """Count one density per proposal and about eight per slice, each as a gradient."""
        del warmup
        return self.moves + EVALUATIONS_PER_SLICE * self.slices

    def check_warmup(self, warmup: WarmupSettings) -> None:
        """Refuse a mass matrix that is not diagonal."""
        if warmup.form_of_mass_matrix not in {"diagonal", "identity"}:
            raise ValueError(
                f"warmup.mass_matrix: {warmup.form_of_mass_matrix} is of no use to kernel "
                "'crank_nicolson', which knows the scale of the weights; use diagonal"
            )
