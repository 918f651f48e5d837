"""Laplace."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from nlobayes.model.likelihood import (
    TARGET,
    Noise,
    diagonal,
    in_quadrature,
    read_scale,
    scale_of,
)


class Laplace(NamedTuple):
    """Laplace, of density exp(-|y - f| / b) / 2b, with a fixed or learned scale b (`sigma`)."""

    sigma: float | None
    scale: float = 1.0

    def outputs(self, targets: int) -> int:
        """One for each target."""
        return targets

    def observe(self, output: Any, target: Any, error: Any = None) -> Any:
        """Observe a Laplace distribution about the output, scale and error in quadrature."""
        import pymc as pm
        import pytensor.tensor as pt

        scale = in_quadrature(scale_of(self, output), error, pt)
        return pm.Laplace(TARGET, output, scale, observed=target)

    def quantities(self, output: Any, xp: Any) -> Any:
        """Give the outputs."""
        return output

    def noise(self, output: Any, variables: Mapping[str, Any], error: Any, xp: Any) -> Noise:
        """Give the Laplace distribution of each target."""
        return Noise("laplace", output, in_quadrature(read_scale(self, variables), error, xp))

    def information_root(
        self, output: Any, variables: Mapping[str, Any], error: Any, xp: Any
    ) -> Any:
        """Give 1 / b: the information of a Laplace distribution is 1 / b^2."""
        return diagonal(1 / self.noise(output, variables, error, xp).scale, output, xp)


build = Laplace
