"""Stochastic gradient Langevin dynamics: a chain of minibatch gradients from each MAP.

Welling and Teh (2011, ICML) follow the gradient of a minibatch and add noise, without a Metropolis
step. With a constant step size the draws are wider than the posterior, by the noise of the
minibatches and by the step: for a Gaussian of precision c and all rows in a batch the variance is
1 / (c (1 - c step_size / 2)).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from pydantic import Field

from nlobayes.errors import InputError
from nlobayes.inference.method import MethodDraws, MethodInput
from nlobayes.methods._modes import FromModes
from nlobayes.settings.values import Positive, PositiveInt

if TYPE_CHECKING:
    import jax


class StochasticGradientLangevin(FromModes):
    """Steps along gradients of minibatches, with noise, from each MAP; an approximation."""

    takes_minibatches: ClassVar[bool] = True

    kind: Literal["sgld"]
    batch: PositiveInt = 100
    """Rows per minibatch; fewer rows widen the draws."""
    step_size: Positive = 1e-6
    """Factor of the gradient of the log posterior. Smaller steps are more exact and slower."""
    epochs_between: PositiveInt = 5
    """Passes through the train rows from one draw to the next."""
    discarded: Annotated[int, Field(ge=0, le=100_000)] = 200
    """First draws of each chain that are discarded."""

    @property
    def gradients(self) -> int:
        """Count the gradients over all train rows: one per epoch."""
        return (self.modes * self.discarded + self.draws) * self.epochs_between

    def sample(self, key: jax.Array, posterior: MethodInput) -> MethodDraws:
        """Draw positions, those of the first MAP first; the mean log density of each is kept.

        Raises InputError if there are more or fewer MAPs than modes, the likelihood is no sum over
        rows, train rows are fewer than a batch, or a chain diverges.
        """
        import jax
        import jax.numpy as jnp

        from nlobayes.inference.langevin import langevin
        from nlobayes.inference.mode_mixture import check_starts, deal

        check_starts(posterior.starts, self.modes)
        if posterior.train is None:
            raise InputError("inference.no_sum_over_rows")
        rows = len(posterior.train.target)
        if rows < self.batch:
            raise InputError("inference.batch_of_rows", batch=self.batch, rows=rows)
        density, each, means = jax.jit(jax.vmap(posterior.logdensity_fn)), [], []
        dealt = deal(self.draws, [0.0] * self.modes, "equal")
        path = langevin(
            posterior.problem,
            posterior.train,
            batch=self.batch,
            step_size=self.step_size,
            draws=self.discarded + max(dealt),
            epochs_between=self.epochs_between,
        )
        keys = jax.random.split(key, self.modes)
        for mode, (own, start, draws) in enumerate(zip(keys, posterior.starts, dealt, strict=True)):
            each.append(path(own, start)[self.discarded :][:draws])
            means.append(float(density(each[-1]).mean()))
            least = density(jnp.stack([start, jnp.zeros_like(start)])).min()
            if not means[-1] >= least:
                raise InputError(
                    "inference.langevin_diverged",
                    mode=mode,
                    step_size=self.step_size,
                    value=means[-1],
                )
        return MethodDraws(jnp.concatenate(each), {"mean_log_density": means})
