"""Laplace with a stated or a learned scale."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from nlobayes.likelihoods._scaled import ScaledLikelihood
from nlobayes.model.likelihood import TARGET, Noise
from nlobayes.settings.values import Positive
from nlobayes.untyped import Array, Module


class LaplaceLikelihood(ScaledLikelihood):
    """Laplace; chains rarely mix with a learned scale on noise-free targets."""

    kind: Literal["laplace"]
    sigma: Positive | None = None
    """Scale b of exp(-|y - f| / b), in the units of the network's target; null learns it."""

    def observe(self, output: Array, target: Array, error: Array = None) -> Array:
        """Observe a Laplace distribution about the output, scale and error in quadrature."""
        import pymc as pm

        return pm.Laplace(TARGET, output, self.stated_scale(output, error), observed=target)

    def noise_about(
        self, output: Array, variables: Mapping[str, Array], error: Array, xp: Module
    ) -> Noise:
        """Return the Laplace distribution of each target."""
        return Noise("laplace", output, self.known_scale(variables, error, xp))

    def information_root(
        self, output: Array, variables: Mapping[str, Array], error: Array, xp: Module
    ) -> Array:
        """Return 1 / b for each output, and 1 for the logarithm of a learned scale."""
        scale = self.known_scale(variables, error, xp)
        return self.orthogonal_root(1.0, 1.0, output, scale, xp)
