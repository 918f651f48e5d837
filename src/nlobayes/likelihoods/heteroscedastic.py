"""Gaussian whose sigma is an output of the network."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal

from nlobayes.likelihoods import LikelihoodSettings
from nlobayes.model.likelihood import TARGET, Noise, add_in_quadrature
from nlobayes.settings.values import Positive
from nlobayes.untyped import Array, Module

LARGEST = 80.0
"""Largest logarithm of a predicted sigma over its scale: exp(88) leaves single precision."""


class HeteroscedasticLikelihood(LikelihoodSettings):
    """Gaussian whose sigma is a second output; chains do not mix on noise-free targets."""

    of_one_column: ClassVar[bool] = True

    kind: Literal["heteroscedastic"]
    scale: Positive = 0.1
    """Sigma if the second output, its logarithm, is zero; in units of the network's target."""

    def outputs(self, targets: int) -> int:
        """Return 2: the mean, and the logarithm of sigma over its scale."""
        return 2 * targets

    def observe(self, output: Array, target: Array, error: Array = None) -> Array:
        """Observe N(first output, sigma^2 + error^2)."""
        import pymc as pm
        import pytensor.tensor as pt

        centre, sigma = self._parts(output, error, pt)
        return pm.Normal(TARGET, centre, sigma, observed=target)

    def noise_about(
        self, output: Array, variables: Mapping[str, Array], error: Array, xp: Module
    ) -> Noise:
        """Return the Gaussian of each target; sigma is positive and finite far from all rows."""
        alone = self.scale * xp.exp(xp.clip(output[..., 1], -LARGEST, LARGEST))
        return Noise("gaussian", output[..., 0], add_in_quadrature(alone, error, xp))

    def information_root(
        self, output: Array, variables: Mapping[str, Array], error: Array, xp: Module
    ) -> Array:
        """Return 1 / sigma for the mean and sqrt(2) for log sigma, less where errors add to it."""
        alone = self.scale * xp.exp(output[..., 1])
        _, sigma = self._parts(output, error, xp)
        roots = xp.stack([1 / sigma, 2**0.5 * (alone / sigma) ** 2], axis=-1)
        return roots[..., None] * xp.eye(2, dtype=roots.dtype)

    def _parts(self, output: Array, error: Array, xp: Module) -> tuple[Array, Array]:
        alone = self.scale * xp.exp(output[..., 1])
        return output[..., 0], add_in_quadrature(alone, error, xp)
