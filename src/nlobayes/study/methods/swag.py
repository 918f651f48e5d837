"""Settings of SWAG, Gaussians fitted to paths of stochastic gradient descent."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field, model_validator

from nlobayes.errors import InputError
from nlobayes.settings.values import Positive, PositiveInt
from nlobayes.study.methods._modes import FromModes


class Swag(FromModes):
    """A Gaussian fitted to the path of gradient descent from each MAP; an approximation.

    With several modes it is multi-SWAG.
    """

    takes_minibatches: ClassVar[bool] = True

    kind: Literal["swag"]
    epochs: PositiveInt = 300
    """Passes through the train rows from each MAP."""
    batch: PositiveInt = 10
    """Rows per minibatch; fewer rows make the path noisier."""
    learning_rate: Positive = 3e-4
    """Constant learning rate for the loss per row. Tolerances that are half as large need a quarter
    of it."""
    snapshot_epochs: PositiveInt = 1
    """Epochs from one snapshot of the path to the next."""
    rank: Annotated[int, Field(ge=2)] = 20
    """Number of last snapshots whose deviations form the low-rank part."""
    scale: Positive = 1.0
    """Factor that multiplies the covariance."""

    @property
    def gradients(self) -> int:
        """Count the gradients over all train rows: one per epoch."""
        return self.modes * self.epochs

    def matrix_numbers(self, parameters: int, train: int) -> int:
        """Count the numbers of the snapshots of one path, and of their means."""
        del train
        return 3 * self.epochs // self.snapshot_epochs * parameters

    @model_validator(mode="after")
    def _snapshots_for_the_rank(self) -> Swag:
        snapshots = self.epochs // self.snapshot_epochs
        if snapshots < self.rank:
            raise InputError("study.few_snapshots", snapshots=snapshots, rank=self.rank)
        return self
