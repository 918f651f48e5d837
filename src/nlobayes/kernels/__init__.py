"""The Markov kernels: their settings, cost and warm-up, and what they build in JAX."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, ClassVar

from nlobayes.inference.kernel import Kernel as MarkovKernel
from nlobayes.inference.kernel import Posterior
from nlobayes.settings.members import one_of_kinds, settings_of
from nlobayes.settings.values import Choice

FEWEST_CHAINS = 2
"""Fewest chains, since one chain cannot show convergence."""


class KernelSettings(Choice):
    """Settings of a kernel; each kind has a file of its name."""

    warmup: ClassVar[str]
    """Kind of the warm-up that tunes the kernel."""
    fewest_chains: ClassVar[int] = FEWEST_CHAINS
    """Fewest chains; a kernel that needs more adapts to all of its chains at once."""
    exact: ClassVar[bool] = True
    """Whether the kernel leaves the posterior invariant without approximation."""

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

    @property
    @abstractmethod
    def gradients_per_draw(self) -> int:
        """Upper bound of the gradients of one draw of one replica, per step that warm-up learns."""

    def check_mass_matrix(self, form: str) -> None:
        """Raise an InputError for a form of the mass matrix that this kernel cannot use."""

    @abstractmethod
    def build(self, posterior: Posterior) -> MarkovKernel:
        """Build the kernel of a posterior."""


KERNELS = settings_of(__name__, __file__, KernelSettings)

if TYPE_CHECKING:
    Kernel = KernelSettings
else:
    Kernel = one_of_kinds(KERNELS.values())
