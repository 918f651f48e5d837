"""Pathfinder: the best Gaussian along a quasi-Newton path that starts near each MAP.

At every point of an L-BFGS path the pairs of its last steps and slopes give an inverse Hessian,
hence a Gaussian; that of the largest evidence lower bound (ELBO) is kept. Candidates of all paths
are weighted to the posterior and resampled (Zhang, Carpenter, Gelman and Vehtari 2022, JMLR 23,
306). The paths start from displaced MAPs, because the curvature is learned from their steps.

`blackjax.vi.pathfinder` of release 1.7 moves the mean against the slope. This module uses its path
and factors, with the mean one Newton step towards the maximum.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from nlobayes.inference.method import MethodDraws, MethodInput
from nlobayes.methods._modes import FromModes
from nlobayes.settings.values import Positive, PositiveInt

if TYPE_CHECKING:
    import jax

    from nlobayes.inference.gaussians import Gaussian


class Pathfinder(FromModes):
    """Gaussians along L-BFGS paths to each MAP, resampled by importance; an approximation."""

    kind: Literal["pathfinder"]
    candidates: Annotated[int, Field(ge=25, le=1_000_000)] = 4000
    """Draws of all paths, from which `draws` are chosen."""
    resample: bool = True
    """Whether they are chosen by importance weights; otherwise `draws` are taken in their order.
    If `pareto_k` is far above 0.7, weights repeat a few candidates."""
    displacement: Positive = 0.1
    """Distance from its MAP at which each path begins, in standard deviations of the prior."""
    iterations: PositiveInt = 500
    """Most steps of a path."""
    history: PositiveInt = 100
    """Number of last steps from which an inverse Hessian is estimated."""
    draws_per_step: PositiveInt = 16
    """Draws from which the ELBO of a step is estimated."""

    @property
    def gradients(self) -> int:
        """Count a few per step for its length, and the draws of its ELBO."""
        return self.modes * self.iterations * (4 + self.draws_per_step)

    def matrix_numbers(self, parameters: int, train: int) -> int:
        """Count the numbers of the paths, and of the factors of one step."""
        del train
        return 6 * self.iterations * parameters + 8 * self.history * (parameters + self.history)

    def sample(self, key: jax.Array, posterior: MethodInput) -> MethodDraws:
        """Draw positions, equally many of each path; keep its ELBO and the number of its step.

        Raises InputError if there are more or fewer MAPs than modes.
        """
        import jax

        from nlobayes.inference.mode_mixture import Mixture, check_starts, deal

        check_starts(posterior.starts, self.modes)
        key_draws, *keys = jax.random.split(key, self.modes + 1)
        found = [
            self._follow(*each, posterior) for each in zip(keys, posterior.starts, strict=True)
        ]
        parts, facts = zip(*found, strict=True)
        of_starts = {name: [fact[name] for fact in facts] for name in facts[0]}
        count = self.candidates if self.resample else self.draws
        mixture = Mixture(parts, deal(count, of_starts["elbo"], "equal"))
        drawn = mixture.drawn(key_draws, posterior, of_starts)
        return drawn._replace(resample=self.draws if self.resample else None)

    def _follow(
        self, key: jax.Array, start: jax.Array, posterior: MethodInput
    ) -> tuple[Gaussian, dict[str, float]]:
        """Return the best Gaussian of a path, in units of the prior about a MAP."""
        import jax
        import jax.numpy as jnp

        from nlobayes.inference.gaussians import diagonal_of, moved_by, whitened
        from nlobayes.inference.paths import elbo_along, follow, gaussian_at

        prior = diagonal_of(start, jax.jit(posterior.gauss_newton.prior)(start))
        density = whitened(posterior.logdensity_fn, prior)
        key_start, key_path = jax.random.split(key)
        begin = self.displacement * jax.random.normal(key_start, start.shape, start.dtype)
        path = jax.jit(lambda at: follow(density, at, self.iterations, self.history))(begin)
        elbo = jax.jit(lambda own: elbo_along(own, density, path, self.draws_per_step))(key_path)
        best = int(jnp.argmax(elbo))
        return moved_by(prior, gaussian_at(path, best)), {
            "elbo": float(elbo[best]),
            "step": float(best),
        }
