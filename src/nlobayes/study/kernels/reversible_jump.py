"""Settings of reversible jumps between architectures."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field, model_validator

from nlobayes.errors import InputError
from nlobayes.settings.values import Jitter, Positive, PositiveInt
from nlobayes.study.kernel import KernelSettings
from nlobayes.study.warmup import WarmupSettings

Move = Literal["prior", "conditional", "split", "identity"]
DENSITIES_PER_JUMP = 4


class ReversibleJumpKernel(KernelSettings):
    """Jumps between numbers of units or layers, and HMC within each; exact.

    For a network with a prior of `units` or of `layers`. A step size is learned for each size.
    """

    warmup: ClassVar[str] = "sizes"

    kind: Literal["reversible_jump"]
    moves: Annotated[tuple[Move, ...], Field(min_length=1)] = ("prior", "conditional", "split")
    """Moves of a jump; each is its own reverse. `prior`: a new unit or last layer is drawn from its
    prior. `conditional`: a new unit has output weights that fit the residuals, a new layer has an
    output layer that fits them. `split`: a unit is split into two that compute nearly the same.
    `identity`: a new layer is near the identity. Warm-up learns the scales of the last two."""
    jumps: PositiveInt = 1
    """Jumps per draw, each by one of the moves, chosen at random."""
    annealing_steps: Annotated[int, Field(ge=0, le=10_000)] = 0
    """Tempered transitions between the proposal of a jump and its acceptance."""
    annealing_integration_steps: PositiveInt = 4
    """Leapfrog steps of each tempered transition."""
    annealed: tuple[Move, ...] | None = None
    """Moves that are annealed; all of them by default."""
    integration_steps: PositiveInt = 64
    """Leapfrog steps per draw, within an architecture."""
    jitter: Jitter = 0.2
    """Relative half-width of the uniform distribution of the number of steps around its value."""
    divergence_threshold: Positive = 1000.0
    """Energy error above which a draw counts as divergent."""

    @model_validator(mode="after")
    def _anneals_its_moves(self) -> ReversibleJumpKernel:
        if others := set(self.annealed or ()) - set(self.moves):
            raise InputError("study.annealed_others", others=sorted(others), moves=self.moves)
        return self

    def gradients_per_draw(self, warmup: WarmupSettings) -> int:
        """Count one per leapfrog step, and some for the proposal and the density of a jump."""
        del warmup
        annealed = 2 * self.annealing_steps * self.annealing_integration_steps
        return self.integration_steps + self.jumps * (DENSITIES_PER_JUMP + annealed)
