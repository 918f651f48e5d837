"""Settings of chains: a kernel, the warm-up that tunes it, and the length of chains."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from pydantic import model_validator

from nlobayes.adaptations import Warmup
from nlobayes.adaptations.windows import WindowWarmup
from nlobayes.errors import InputError
from nlobayes.kernels import KERNELS, Kernel
from nlobayes.methods import Chains, ChainsPerJob, MethodSettings
from nlobayes.settings.agreement import Agreement
from nlobayes.settings.values import THIN_WAS, PositiveInt, Segments


class MCMC(MethodSettings):
    """Markov chains over a network of fixed size."""

    approximate: ClassVar[bool] = False
    stage: ClassVar[str] = "assemble"
    RENAMED: ClassVar[Mapping[str, str]] = THIN_WAS

    kind: Literal["mcmc"] = "mcmc"
    kernel: Kernel
    """Kernel and its settings."""
    warmup: Warmup = WindowWarmup()
    """Adaptation before sampling; its `kind` follows from the kernel."""
    chains: Chains = 4
    """At least two: convergence cannot be shown with one."""
    chains_per_start: PositiveInt = 1
    """Chains that start from one MAP: more than one make superchains for the nested R-hat."""
    segments: Segments = 1
    """Consecutive jobs per chain; a larger number extends a finished run."""
    draws_per_segment: PositiveInt
    """Draws of one job."""
    thin: PositiveInt | None = None
    """Weights of every n-th draw are stored. null: the largest n at which the effective sample
    size of f loses at most 10 %, at most 2000 draws of all chains."""
    until: Agreement | None = None
    """Check after every segment, and stop when these limits are met, `{}` for those of the verdict;
    null draws all segments."""

    @model_validator(mode="before")
    @classmethod
    def _knows_its_warmup(cls, value: Any) -> Any:
        kernel = value.get("kernel") if isinstance(value, dict) else None
        known = KERNELS.get(str(kernel.get("kind"))) if isinstance(kernel, dict) else None
        if kernel is None or known is None:
            return value
        kind, warmup = known.warmup, value.get("warmup", {})
        if not isinstance(warmup, dict):
            return value
        if warmup.get("kind", kind) != kind:
            raise InputError(
                "study.warmup_of_other_kernel",
                given=warmup["kind"],
                kernel=kernel["kind"],
                needed=kind,
            )
        return {**value, "warmup": {"kind": kind, **warmup}}

    @property
    def gradients_per_draw(self) -> int:
        """Upper bound of the gradients of one draw of one replica."""
        return self.kernel.gradients_per_draw * self.warmup.most_learned_steps

    @property
    def jobs_in_a_row(self) -> int:
        """Number of consecutive jobs of each group of chains."""
        return self.warmup.segments + self.segments

    @property
    def starts(self) -> list[int]:
        """Number of the MAP that each chain starts from."""
        return [chain // self.chains_per_start for chain in range(self.chains)]

    def chain_groups(self, chains_per_job: ChainsPerJob) -> list[list[int]]:
        """Numbers of the chains of each job; chains that adapt together share one."""
        chains = list(range(self.chains))
        together = chains_per_job == "all" or self.kernel.learns_from_all_chains
        size = len(chains) if together else int(chains_per_job)
        return [chains[first : first + size] for first in range(0, len(chains), size)]

    @property
    def exact(self) -> bool:
        """Whether its kernel is exact."""
        return self.kernel.exact

    @property
    def has_dense_curvature(self) -> bool:
        """Whether the mass matrix is learned from the dense curvature."""
        return self.warmup.form_of_mass_matrix == "gauss_newton"

    @property
    def superchains(self) -> int | None:
        """Number of groups of chains with a common start; None if every chain has its own."""
        return self.chains // self.chains_per_start if self.chains_per_start > 1 else None

    @model_validator(mode="after")
    def _shares_starts_evenly(self) -> MCMC:
        if self.chains % self.chains_per_start or self.chains == self.chains_per_start:
            raise InputError(
                "study.uneven_starts", chains=self.chains, chains_per_start=self.chains_per_start
            )
        return self

    @model_validator(mode="after")
    def _has_enough_chains(self) -> MCMC:
        fewest = self.kernel.fewest_chains
        if self.chains < fewest:
            raise InputError(
                "study.too_few_chains",
                where="chains",
                chains=self.chains,
                kernel=self.kernel.kind,
                fewest=fewest,
            )
        return self

    @model_validator(mode="after")
    def _has_a_warmup_that_teaches_its_kernel(self) -> MCMC:
        self.kernel.check_mass_matrix(self.warmup.form_of_mass_matrix)
        return self

    @model_validator(mode="after")
    def _keeps_whole_draws(self) -> MCMC:
        if self.thin is not None and self.draws_per_segment % self.thin:
            key, draws = "draws_per_segment", self.draws_per_segment
            raise InputError("study.uneven_thin", key=key, draws=draws, thin=self.thin)
        return self
