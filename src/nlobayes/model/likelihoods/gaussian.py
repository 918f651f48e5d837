"""Gaussian with a fixed or a learned sigma."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from nlobayes.model.likelihood import TARGET, Noise, Scaled


@dataclass(frozen=True)
class Gaussian(Scaled):
    """Gaussian with a fixed sigma, a declared tolerance, or with a learned one for each target.

    A learned sigma is half-normal with `scale` a priori, cut off below the `floor`; or its
    precision is Gamma of `shape` and `rate`.
    """

    sigma: float | None
    scale: float = 1.0
    floor: float = 0.0
    precision: Mapping[str, float] | None = None

    def observe(self, output: Any, target: Any, error: Any = None) -> Any:
        """Observe N(output, sigma^2 + error^2)."""
        import pymc as pm

        return pm.Normal(TARGET, output, self.stated_scale(output, error), observed=target)

    def noise(self, output: Any, variables: Mapping[str, Any], error: Any, xp: Any) -> Noise:
        """Return the Gaussian of each target."""
        return Noise("gaussian", output, self.known_scale(variables, error, xp))

    def information_root(
        self, output: Any, variables: Mapping[str, Any], error: Any, xp: Any
    ) -> Any:
        """Return 1 / sigma for each output, and sqrt(2) for the logarithm of a learned scale."""
        scale = self.known_scale(variables, error, xp)
        return self.orthogonal_root(1.0, 2**0.5, output, scale, xp)


build = Gaussian
