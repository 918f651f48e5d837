"""Settings of parallel tempering."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Annotated, ClassVar, Literal

from pydantic import Field, model_validator

from nlobayes.errors import InputError
from nlobayes.settings.values import Fraction, Jitter, Positive, PositiveInt
from nlobayes.study.kernel import KernelSettings
from nlobayes.study.warmup import WarmupSettings


class TemperingKernel(KernelSettings):
    """Parallel tempering over HMC, for chains that stay in different modes; exact."""

    RENAMED: ClassVar[Mapping[str, str]] = {
        "rungs": "num_temperatures",
        "hottest": "min_inverse_temperature",
    }
    warmup: ClassVar[str] = "ladder"

    kind: Literal["tempering"]
    num_temperatures: Annotated[int, Field(ge=2)] = 16
    """Replicas per chain, and gradients per leapfrog step."""
    min_inverse_temperature: Fraction = 1e-3
    """Power of the likelihood at the hottest temperature; initially those between are geometric."""
    inverse_temperatures: tuple[float, ...] | None = None
    """Initial inverse temperatures, from 1 falling to 0 or above; replaces the two keys above."""
    integration_steps: PositiveInt = 64
    """Leapfrog steps of every replica per draw."""
    jitter: Jitter = 0.2
    """Relative half-width of the uniform distribution of the number of steps around
    `integration_steps`."""
    divergence_threshold: Positive = 1000.0
    """Energy error above which a draw counts as divergent."""

    @model_validator(mode="after")
    def _is_a_ladder(self) -> TemperingKernel:
        ladder = self.inverse_temperatures
        if ladder is not None and not (
            len(ladder) >= 2
            and ladder[0] == 1
            and ladder[-1] >= 0
            and all(hot < cold for cold, hot in pairwise(ladder))
        ):
            raise InputError("study.no_ladder", given=list(ladder))
        return self

    @property
    def replicas(self) -> int:
        """Number of temperatures."""
        return len(self.inverse_temperatures or ()) or self.num_temperatures

    @property
    def fixed_integration_steps(self) -> int:
        """Leapfrog steps per draw."""
        return self.integration_steps

    def gradients_per_draw(self, warmup: WarmupSettings) -> int:
        """Return one per leapfrog step."""
        del warmup
        return self.integration_steps
