"""Gaussian with a stated or a learned sigma."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from nlobayes.likelihoods._scaled import ScaledLikelihood
from nlobayes.model.likelihood import TARGET, Noise
from nlobayes.settings.values import Positive


class GaussianLikelihood(ScaledLikelihood):
    """Gaussian with a stated or learned sigma; chains rarely mix with a learned one without noise.

    A stated sigma on noise-free targets is a tolerance.
    """

    is_gaussian: ClassVar[bool] = True

    kind: Literal["gaussian"]
    sigma: Positive | None
    """In the units of the network's target (its sd on train rows if standardised); null learns
    it, half-normal a priori."""

    def observe(self, output: Any, target: Any, error: Any = None) -> Any:
        """Observe N(output, sigma^2 + error^2)."""
        import pymc as pm

        return pm.Normal(TARGET, output, self.stated_scale(output, error), observed=target)

    def noise_about(self, output: Any, variables: Mapping[str, Any], error: Any, xp: Any) -> Noise:
        """Return the Gaussian of each target."""
        return Noise("gaussian", output, self.known_scale(variables, error, xp))

    def information_root(
        self, output: Any, variables: Mapping[str, Any], error: Any, xp: Any
    ) -> Any:
        """Return 1 / sigma for each output, and sqrt(2) for the logarithm of a learned scale."""
        scale = self.known_scale(variables, error, xp)
        return self.orthogonal_root(1.0, 2**0.5, output, scale, xp)
