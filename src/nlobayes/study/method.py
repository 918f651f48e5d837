"""Settings of every method: its start, its jobs and their needs."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Annotated, ClassVar, Literal

from pydantic import AfterValidator, Field

from nlobayes.errors import InputError
from nlobayes.study.values import Frozen

ChainsPerJob = int | Literal["all"]


def _more_than_one(chains: int) -> int:
    if chains < 2:
        raise InputError("study.one_chain", chains=chains)
    return chains


Chains = Annotated[int, Field(le=1000), AfterValidator(_more_than_one)]
"""A number of chains: convergence cannot be shown with one."""


class MethodSettings(Frozen):
    """Settings of a method; those of one kind are in the file of its name in `methods/`."""

    approximate: ClassVar[bool] = True
    """Whether its draws are no chains: convergence does not apply then."""
    stage: ClassVar[str] = "approximate"
    """The stage that writes its posterior."""
    starts_at_maps: ClassVar[bool] = True
    """Whether its draws depend on its MAPs; otherwise these are the baseline alone."""
    takes_minibatches: ClassVar[bool] = False
    """Whether it takes minibatches, and so needs a likelihood that is a sum over rows."""
    draws_output: ClassVar[bool] = False
    """Whether it draws the output layer exactly, as if `output: marginalised` were set."""

    kind: str

    @property
    def exact(self) -> bool:
        """Whether its draws are of the posterior itself, once they have converged."""
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
        """Whether a draw is a network, which a surrogate evaluates; else it is a tangent of one."""
        return True

    @property
    @abstractmethod
    def starts(self) -> Sequence[int]:
        """Number of the MAP that each chain, or each member, starts from."""

    def chain_groups(self, chains_per_job: ChainsPerJob) -> list[list[int]]:
        """Numbers of the chains of each job that draws; none where there are no chains."""
        del chains_per_job
        return []

    @property
    def jobs_in_a_row(self) -> int:
        """Jobs in a row of each group of chains."""
        return 0

    @property
    def draws_of_all(self) -> int:
        """Draws of a method of one job, all of its starts together."""
        return len(self.starts)

    @property
    def gradients(self) -> int:
        """Gradients of all train rows that a method of one job takes."""
        return 0

    def matrix_numbers(self, parameters: int, train: int) -> int:
        """Count the numbers that a method of one job holds beside its draws."""
        del parameters, train
        return 0
