"""Settings of every kernel: its warm-up, its chains and its cost."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar

from nlobayes.settings.values import Frozen
from nlobayes.study.warmup import WarmupSettings

FEWEST_CHAINS = 2
"""Fewest chains, since one chain cannot show convergence."""


class KernelSettings(Frozen):
    """Settings of a kernel; each kind has a file of its name in `kernels/`."""

    warmup: ClassVar[str]
    """Kind of the warm-up that tunes the kernel."""
    fewest_chains: ClassVar[int] = FEWEST_CHAINS
    """Fewest chains; a kernel that needs more adapts to all of its chains at once."""
    exact: ClassVar[bool] = True
    """Whether the kernel leaves the posterior invariant without approximation."""

    kind: str

    @property
    def settings(self) -> dict[str, Any]:
        """Settings of the kernel itself."""
        return self.model_dump(exclude={"kind"})

    @property
    def learns_from_all_chains(self) -> bool:
        """Whether all chains must share a job."""
        return self.fewest_chains > FEWEST_CHAINS

    @property
    def replicas(self) -> int:
        """Number of copies of the position that one chain moves."""
        return 1

    @property
    def fixed_integration_steps(self) -> int | None:
        """Integrator steps per draw; None if their number is learned or varies freely."""
        return None

    @property
    def max_tree_depth(self) -> int | None:
        """Largest number of doublings of a trajectory; None for kernels without a tree."""
        return None

    @abstractmethod
    def gradients_per_draw(self, warmup: WarmupSettings) -> int:
        """Return an upper bound of the gradients of one draw of one replica after a warm-up."""

    def check_warmup(self, warmup: WarmupSettings) -> None:
        """Raise an InputError for settings of the warm-up that this kernel cannot use."""
