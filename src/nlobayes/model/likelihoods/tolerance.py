"""Gaussian with a fixed sigma, a declared tolerance."""

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


class Gaussian(NamedTuple):
    """Gaussian with a fixed sigma, a declared tolerance, or with a learned one for each target.

    A learned sigma is half-normal with `scale` a priori.
    """

    sigma: float | None
    scale: float = 1.0

    def outputs(self, targets: int) -> int:
        """One for each target."""
        return targets

    def observe(self, output: Any, target: Any, error: Any = None) -> Any:
        """Observe N(output, sigma^2 + error^2)."""
        import pymc as pm
        import pytensor.tensor as pt

        sigma = in_quadrature(scale_of(self, output), error, pt)
        return pm.Normal(TARGET, output, sigma, observed=target)

    def quantities(self, output: Any, xp: Any) -> Any:
        """Give the outputs."""
        return output

    def noise(self, output: Any, variables: Mapping[str, Any], error: Any, xp: Any) -> Noise:
        """Give the Gaussian of each target."""
        return Noise("gaussian", output, in_quadrature(read_scale(self, variables), error, xp))

    def information_root(
        self, output: Any, variables: Mapping[str, Any], error: Any, xp: Any
    ) -> Any:
        """Give 1 / sigma, one row for each output."""
        return diagonal(1 / self.noise(output, variables, error, xp).scale, output, xp)


def build(*, sigma: float) -> Gaussian:
    """Give a fixed sigma."""
    return Gaussian(sigma)
