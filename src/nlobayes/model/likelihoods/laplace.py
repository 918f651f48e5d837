"""Laplace with a fixed or a learned scale."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from nlobayes.model.likelihood import TARGET, Noise, Scaled


@dataclass(frozen=True)
class Laplace(Scaled):
    """Laplace, of density exp(-|y - f| / b) / 2b, with a fixed or learned scale b (`sigma`)."""

    sigma: float | None
    scale: float = 1.0
    floor: float = 0.0
    precision: Mapping[str, float] | None = None

    def observe(self, output: Any, target: Any, error: Any = None) -> Any:
        """Observe a Laplace distribution about the output, scale and error in quadrature."""
        import pymc as pm

        return pm.Laplace(TARGET, output, self.stated_scale(output, error), observed=target)

    def noise(self, output: Any, variables: Mapping[str, Any], error: Any, xp: Any) -> Noise:
        """Return the Laplace distribution of each target."""
        return Noise("laplace", output, self.known_scale(variables, error, xp))

    def information_root(
        self, output: Any, variables: Mapping[str, Any], error: Any, xp: Any
    ) -> Any:
        """Return 1 / b for each output, and 1 for the logarithm of a learned scale."""
        scale = self.known_scale(variables, error, xp)
        return self.orthogonal_root(1.0, 1.0, output, scale, xp)


build = Laplace
