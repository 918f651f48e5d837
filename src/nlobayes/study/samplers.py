"""The vocabulary of sampling: a kernel, the warm-up that tunes it, and how long chains run."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field, field_validator, model_validator

from nlobayes.study.kernels import Kernel
from nlobayes.study.values import Frozen, Positive, PositiveInt, Segments
from nlobayes.study.warmups import Warmup, WindowWarmup

WARMUP_OF = {
    "random_walk": "windows",
    "hmc": "windows",
    "nuts": "windows",
    "gibbs_hmc": "windows",
    "chees": "chees",
    "mclmc": "microcanonical",
    "adjusted_mclmc": "microcanonical",
    "tensorbnn": "bayesian_optimisation",
    "tempering": "ladder",
}
"""The warm-up that tunes each kernel."""

FEWEST_CHAINS = {"chees": 16}
"""Kernels that learn from all chains at once need this many."""


class Until(Frozen):
    """Stop drawing when convergence is shown; `segments` is then the most that are drawn."""

    rhat_f_median: Positive = 1.01
    """Largest median over reference points of the R-hat of f."""
    rhat_f_p99: Positive = 1.05
    """Largest 99th percentile of it."""
    ess_f_bulk_min: Positive = 100.0
    """Smallest bulk effective sample size of f at any reference point."""


class Sampler(Frozen):
    """How the posterior is sampled."""

    kernel: Kernel
    """Kernel and its settings."""
    warmup: Warmup = WindowWarmup()
    """Adaptation before sampling; its `kind` follows from the kernel."""
    chains: Annotated[int, Field(le=1000)] = 4
    """At least two: convergence cannot be shown with one."""
    chains_per_start: PositiveInt = 1
    """Chains that start from one MAP: more than one make superchains for the nested R-hat."""
    segments: Segments = 1
    """Jobs in a row per chain; raising it extends a finished run."""
    draws_per_segment: PositiveInt
    """Draws of one job."""
    keep_every: PositiveInt = 8
    """Weights of every n-th draw are stored; diagnostics use every draw."""
    until: Until | None = None
    """Judge after every segment and stop when met; null draws all segments."""

    @model_validator(mode="before")
    @classmethod
    def _knows_its_warmup(cls, value: Any) -> Any:
        kernel = value.get("kernel") if isinstance(value, dict) else None
        kind = WARMUP_OF.get(str(kernel.get("kind"))) if isinstance(kernel, dict) else None
        warmup = value.get("warmup", {}) if kind else None
        if kernel is None or not isinstance(warmup, dict):
            return value
        if warmup.get("kind", kind) != kind:
            raise ValueError(
                f"warmup.kind is {warmup['kind']!r}, but kernel {kernel['kind']!r} is tuned by "
                f"{kind!r}; leave it out"
            )
        return {**value, "warmup": {"kind": kind, **warmup}}

    @field_validator("chains")
    @classmethod
    def _more_than_one(cls, chains: int) -> int:
        if chains < 2:
            raise ValueError(
                f"got {chains}, must be at least 2: one chain cannot show convergence; use 4"
            )
        return chains

    @property
    def pieces(self) -> int:
        """Jobs in a row of each block of chains."""
        return self.warmup.segments + self.segments

    @property
    def superchains(self) -> int | None:
        """Number of groups of chains that share a start; none where every chain has its own."""
        return self.chains // self.chains_per_start if self.chains_per_start > 1 else None

    @model_validator(mode="after")
    def _shares_starts_evenly(self) -> Sampler:
        if self.chains % self.chains_per_start or self.chains == self.chains_per_start:
            raise ValueError(
                f"chains ({self.chains}) must be a multiple, at least twice, of chains_per_start "
                f"({self.chains_per_start})"
            )
        return self

    @model_validator(mode="after")
    def _has_enough_chains(self) -> Sampler:
        fewest = FEWEST_CHAINS.get(self.kernel.kind, 2)
        if self.chains < fewest:
            raise ValueError(
                f"chains: got {self.chains}, but kernel {self.kernel.kind!r} learns from all of "
                f"them at once and needs at least {fewest}"
            )
        return self

    @model_validator(mode="after")
    def _has_a_mass_matrix_of_its_own(self) -> Sampler:
        mass_matrix = getattr(self.warmup, "mass_matrix", None)
        if self.kernel.kind == "random_walk" and mass_matrix == "low_rank":
            raise ValueError(
                "warmup.mass_matrix: low_rank learns from gradients, which kernel 'random_walk' "
                "does not compute; use diagonal or dense"
            )
        if self.kernel.kind == "gibbs_hmc" and mass_matrix == "low_rank":
            raise ValueError(
                "warmup.mass_matrix: low_rank cannot be cut to the entries that kernel "
                "'gibbs_hmc' moves; use diagonal or dense"
            )
        return self

    @model_validator(mode="after")
    def _keeps_whole_draws(self) -> Sampler:
        if self.draws_per_segment % self.keep_every:
            raise ValueError(
                f"draws_per_segment ({self.draws_per_segment}) must be a multiple of "
                f"keep_every ({self.keep_every})"
            )
        return self
