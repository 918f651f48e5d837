"""Gaussian with a stated or a learned sigma."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal

from nlobayes.likelihoods._scaled import ScaledLikelihood
from nlobayes.model.likelihood import TARGET, Noise
from nlobayes.settings.values import Positive
from nlobayes.untyped import Array, Module


class GaussianLikelihood(ScaledLikelihood):
    """Gaussian with a stated sigma (a tolerance on noise-free targets) or a learned one."""

    is_gaussian: ClassVar[bool] = True

    kind: Literal["gaussian"]
    sigma: Positive | None
    """In units of the network's target (its sd if standardised); null learns it."""

    def observe(self, output: Array, target: Array, error: Array = None) -> Array:
        """Observe N(output, sigma^2 + error^2)."""
        import pymc as pm

        return pm.Normal(TARGET, output, self.stated_scale(output, error), observed=target)

    def noise_about(
        self, output: Array, variables: Mapping[str, Array], error: Array, xp: Module
    ) -> Noise:
        """Return the Gaussian of each target."""
        return Noise("gaussian", output, self.known_scale(variables, error, xp))

    def information_root(
        self, output: Array, variables: Mapping[str, Array], error: Array, xp: Module
    ) -> Array:
        """Return 1 / sigma for each output, and sqrt(2) for the logarithm of a learned scale."""
        scale = self.known_scale(variables, error, xp)
        return self.orthogonal_root(1.0, 2**0.5, output, scale, xp)
