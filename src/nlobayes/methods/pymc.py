"""Settings of NUTS as run by PyMC."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, field_validator

from nlobayes.errors import InputError
from nlobayes.methods import Chains, MethodSettings
from nlobayes.settings.values import PositiveInt

MOST_STEPS = 2**10
"""Leapfrog steps of the largest tree in all three samplers."""


class PyMC(MethodSettings):
    """NUTS by `pm.sample`, all chains in one job, as a reference for our own kernels; exact."""

    approximate: ClassVar[bool] = False
    stage: ClassVar[str] = "sample"
    starts_at_maps: ClassVar[bool] = False

    kind: Literal["pymc"]
    nuts_sampler: Literal["pymc", "numpyro", "nutpie"] = "pymc"
    """Library that samples; the last two need the extra `yardsticks`."""
    chains: Chains = 4
    """At least two, each from a start that PyMC chooses, not from a MAP."""
    tune: PositiveInt = 1000
    """Steps that adapt before the first draw of each chain."""
    draws: Annotated[int, Field(ge=8, le=1_000_000)] = 1000
    """Draws of each chain; all of them are stored."""
    target_accept: Annotated[float, Field(gt=0, lt=1)] = 0.8
    """Mean acceptance that the step size is adapted to."""

    @field_validator("nuts_sampler", mode="before")
    @classmethod
    def _works(cls, name: Any) -> Any:
        if name == "blackjax":
            raise InputError("study.blackjax_by_pymc")
        return name

    @property
    def starts(self) -> list[int]:
        """Numbers of the MAPs of the baseline: as many as chains, which do not start there."""
        return list(range(self.chains))

    @property
    def draws_of_all(self) -> int:
        """Draws of all chains together."""
        return self.chains * self.draws

    @property
    def gradients(self) -> int:
        """Count the gradients of the largest trees."""
        return self.chains * (self.tune + self.draws) * MOST_STEPS
