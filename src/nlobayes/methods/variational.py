"""Variational inference: the Gaussian with the largest evidence lower bound (ELBO) near each MAP.

Graves (2011, NeurIPS 24) and Blundell et al. (2015, ICML) learn independent weights of networks;
Kucukelbir et al. (2017, JMLR 18, 14) any Gaussian. It is learned in coordinates that whiten the
Laplace approximation of the same form, so that its steps fit all directions. `low_rank` is then a
diagonal matrix plus one of low rank in these coordinates.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from nlobayes.inference.method import MethodDraws, MethodInput
from nlobayes.methods._modes import FromModes, dense_numbers
from nlobayes.settings.values import Positive, PositiveInt

if TYPE_CHECKING:
    import jax

    from nlobayes.inference.gaussians import Gaussian

ADAM = 6
"""Arrays of the size of the parameters in a step: parameters, gradient, update, moments, root."""


class Variational(FromModes):
    """The Gaussian with the largest evidence bound (ELBO) about each MAP; an approximation."""

    kind: Literal["variational"]
    covariance: Literal["full", "diagonal", "low_rank"] = "full"
    """`full` is for up to 4000 parameters. `diagonal` treats parameters as independent.
    `low_rank` is a diagonal plus `rank` directions."""
    rank: PositiveInt = 50
    """Directions of `low_rank`."""
    steps: Annotated[int, Field(ge=1, le=10_000_000)] = 4000
    """Steps of Adam about each MAP; `slope_over_error` of the file shows whether they suffice."""
    draws_per_step: PositiveInt = 8
    """Draws of the Gaussian that estimate a gradient."""
    step_size: Positive = 0.02
    """Initial step size, in standard deviations of a Laplace approximation; it falls to zero along
    a cosine."""
    weights: Literal["equal", "evidence"] = "equal"
    """Share of each MAP in the draws: the same, or by its ELBO, which bounds its evidence."""

    @property
    def has_dense_curvature(self) -> bool:
        """Whether its covariance is full."""
        return self.covariance == "full"

    @property
    def gradients(self) -> int:
        """Count one per draw of each step."""
        return self.modes * self.steps * self.draws_per_step

    def matrix_numbers(self, parameters: int, train: int) -> int:
        """Count the numbers of the curvature and of the state of Adam."""
        if self.covariance == "full":
            return dense_numbers(parameters, train) + ADAM * parameters**2
        return (3 + ADAM) * self.rank * parameters if self.covariance == "low_rank" else 0

    def sample(self, key: jax.Array, posterior: MethodInput) -> MethodDraws:
        """Draw positions, those of the first MAP first; the ELBO of each MAP is kept.

        `elbo` has the standard error `elbo_error`. `slope_over_error` is about 1 at the maximum,
        and far above 1 if more steps would increase the ELBO.

        Raises InputError if the numbers of MAPs and modes differ, or the covariance is full and
        there are too many parameters, or the rank is not below their number.
        """
        import jax

        from nlobayes.inference.mode_mixture import Mixture, check_starts, deal

        check_starts(posterior.starts, self.modes)
        key_draws, *keys = jax.random.split(key, self.modes + 1)
        found = [self._learn(*each, posterior) for each in zip(keys, posterior.starts, strict=True)]
        parts, appraised = zip(*found, strict=True)
        of_starts = {name: [one[name] for one in appraised] for name in appraised[0]}
        mixture = Mixture(parts, deal(self.draws, of_starts["elbo"], self.weights))
        return mixture.drawn(key_draws, posterior, of_starts)

    def _learn(
        self, key: jax.Array, start: jax.Array, posterior: MethodInput
    ) -> tuple[Gaussian, dict[str, float]]:
        """Return the Gaussian about one MAP, and its facts."""
        import jax

        from nlobayes.inference import elbo as learned
        from nlobayes.inference.gaussians import gaussian_about, moved_by, whitened

        form = (self.covariance, self.rank)
        laplace = gaussian_about(posterior.gauss_newton, start, *form)
        density = whitened(posterior.logdensity_fn, laplace)
        key_first, key_steps, key_last = jax.random.split(key, 3)
        first = learned.first_parameters(key_first, start.size, *form, start.dtype)
        learning = learned.Learning(self.steps, self.draws_per_step, self.step_size)
        last = learned.learn(key_steps, density, first, learning)
        facts = learned.appraise(key_last, density, last)
        return moved_by(laplace, learned.gaussian_of(last)), facts
