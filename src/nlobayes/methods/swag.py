"""SWAG: a Gaussian from snapshots of a gradient descent that starts at a MAP.

Maddox et al. (2019, NeurIPS 32, algorithm 1) take the mean of the snapshots (SWA), half of their
variances, and half of the covariance of the last of them. Draws from several MAPs are multi-SWAG
(Wilson and Izmailov 2020, NeurIPS 33). The descent has a constant learning rate and minibatches of
the loss of pretraining: the learning rate, not the posterior, determines the width of its path.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from pydantic import Field, model_validator

from nlobayes.errors import InputError
from nlobayes.inference.method import MethodDraws, MethodInput
from nlobayes.methods._modes import FromModes
from nlobayes.settings.values import Positive, PositiveInt

if TYPE_CHECKING:
    import jax

    from nlobayes.inference.snapshots import Descend


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

    def sample(self, key: jax.Array, posterior: MethodInput) -> MethodDraws:
        """Draw positions, those of the first MAP first; the log density of each mean is kept.

        Raises InputError if there are more or fewer MAPs than modes, the likelihood is no sum over
        rows, train rows are fewer than a batch, or a path diverges.
        """
        import jax
        import jax.numpy as jnp

        from nlobayes.inference.mode_mixture import Mixture, check_starts, deal
        from nlobayes.inference.snapshots import moments_of

        check_starts(posterior.starts, self.modes)
        descend, density = self._descent(posterior), jax.jit(posterior.logdensity_fn)
        key_draws, *keys = jax.random.split(key, self.modes + 1)
        parts, reached = [], []
        for mode, (own, start) in enumerate(zip(keys, posterior.starts, strict=True)):
            parts.append(moments_of(descend(own, start), self.rank).gaussian(self.scale))
            reached.append(float(density(parts[-1].mean)))
            least = min(float(density(start)), float(density(jnp.zeros_like(start))))
            self._check_descended(mode, reached[-1], least)
        mixture = Mixture(parts, deal(self.draws, reached, "equal"))
        return mixture.drawn(key_draws, posterior, {"log_density_of_means": reached})

    def _descent(self, posterior: MethodInput) -> Descend:
        from nlobayes.inference.snapshots import descent

        if posterior.train is None:
            raise InputError("inference.no_sum_over_rows")
        rows = len(posterior.train.target)
        if rows < self.batch:
            raise InputError("inference.batch_of_rows", batch=self.batch, rows=rows)
        snapshots = self.epochs // self.snapshot_epochs
        return descent(
            posterior.problem,
            posterior.train,
            batch=self.batch,
            learning_rate=self.learning_rate,
            snapshots=snapshots,
            epochs_between=self.snapshot_epochs,
        )

    def _check_descended(self, mode: int, reached: float, least: float) -> None:
        """Refuse a path whose mean fits worse than both its start and a network of zeros."""
        if not reached >= least:
            raise InputError(
                "inference.diverged", mode=mode, learning_rate=self.learning_rate, value=reached
            )
