"""The methods: chains of a kernel, chains of PyMC, and approximations that draw in one job."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, BeforeValidator, Field

from nlobayes.errors import InputError
from nlobayes.inference.method import MethodDraws, MethodInput
from nlobayes.settings.members import one_of_kinds, settings_of
from nlobayes.settings.values import Choice

if TYPE_CHECKING:
    import jax

ChainsPerJob = int | Literal["all"]


def _more_than_one(chains: int) -> int:
    if chains < 2:
        raise InputError("study.one_chain", chains=chains)
    return chains


Chains = Annotated[int, Field(le=1000), AfterValidator(_more_than_one)]
"""Number of chains, at least two: one chain cannot show convergence."""


class MethodSettings(Choice):
    """Settings of a method; each kind has a file of its name."""

    approximate: ClassVar[bool] = True
    """Whether its draws are not chains, so that convergence does not apply."""
    stage: ClassVar[str] = "approximate"
    """Stage that writes its posterior."""
    starts_at_maps: ClassVar[bool] = True
    """Whether its draws depend on its MAPs; otherwise the MAPs are only the baseline."""
    takes_minibatches: ClassVar[bool] = False
    """Whether it uses minibatches, and so needs a likelihood that is a sum over rows."""
    draws_output: ClassVar[bool] = False
    """Whether it draws the output layer exactly, as if `output: marginalised` were set."""

    @property
    def exact(self) -> bool:
        """Whether its draws follow the posterior exactly, once they have converged."""
        return not self.approximate

    @property
    def has_dense_curvature(self) -> bool:
        """Whether it holds the Gauss-Newton curvature of all parameters as a matrix."""
        return False

    @property
    def moves_hyperparameters(self) -> bool:
        """Whether it needs a prior or a likelihood that learns hyperparameters."""
        return False

    @property
    def draws_networks(self) -> bool:
        """Whether a draw is a network, which a surrogate evaluates, and not its linearisation."""
        return True

    @property
    @abstractmethod
    def starts(self) -> Sequence[int]:
        """Number of the MAP that each chain, or each member, starts from."""

    def chain_groups(self, chains_per_job: ChainsPerJob) -> list[list[int]]:
        """Numbers of the chains of each job that draws; none for methods without chains."""
        del chains_per_job
        return []

    @property
    def jobs_in_a_row(self) -> int:
        """Number of consecutive jobs of each group of chains."""
        return 0

    @property
    def draws_of_all(self) -> int:
        """Draws of a method of one job, from all of its starts together."""
        return len(self.starts)

    @property
    def gradients(self) -> int:
        """Gradients over all train rows that a method of one job computes."""
        return 0

    def matrix_numbers(self, parameters: int, train: int) -> int:
        """Count the numbers that a method of one job holds besides its draws."""
        del parameters, train
        return 0


class ApproximationSettings(MethodSettings):
    """Settings of a method whose draws are no chains."""

    @abstractmethod
    def sample(self, key: jax.Array, posterior: MethodInput) -> MethodDraws:
        """Draw positions.

        Raises InputError if the number of starts differs from that of the settings.
        """


METHODS = settings_of(__name__, __file__, MethodSettings)
CHAINS = "mcmc"


def _of_chains_by_default(value: Any) -> Any:
    """Read settings without a kind as those of chains."""
    return {"kind": CHAINS, **value} if isinstance(value, dict) else value


if TYPE_CHECKING:
    Method = MethodSettings
    Approximation = ApproximationSettings
else:
    Approximation = one_of_kinds(each for each in METHODS.values() if each.approximate)
    Method = Annotated[one_of_kinds(METHODS.values()), BeforeValidator(_of_chains_by_default)]
