"""Student-t."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from nlobayes.model.likelihood import (
    DEGREES,
    FEWEST_DEGREES,
    TARGET,
    Noise,
    Scaled,
    diagonal,
)


@dataclass(frozen=True)
class StudentT(Scaled):
    """Student-t with a fixed or learned scale `sigma`, and fixed or learned degrees of freedom.

    Learned degrees of freedom are 2 plus Gamma(2, 0.1), the prior of Juárez and Steel (2010, J.
    Bus. Econ. Stat. 28, 52) moved to where the variance exists.
    """

    sigma: float | None
    degrees_of_freedom: float | None
    scale: float = 1.0
    floor: float = 0.0
    precision: Mapping[str, float] | None = None

    def observe(self, output: Any, target: Any, error: Any = None) -> Any:
        """Observe a Student-t about the output, its scale and the error in quadrature."""
        import pymc as pm

        degrees: Any = self.degrees_of_freedom
        if degrees is None:
            above = pm.Gamma(f"{DEGREES}_above_2", pm.floatX(2.0), pm.floatX(0.1))
            degrees = pm.Deterministic(DEGREES, FEWEST_DEGREES + above)
        else:
            degrees = pm.floatX(degrees)
        sigma = self.stated_scale(output, error)
        return pm.StudentT(TARGET, nu=degrees, mu=output, sigma=sigma, observed=target)

    def noise(self, output: Any, variables: Mapping[str, Any], error: Any, xp: Any) -> Noise:
        """Give the Student-t of each target."""
        scale = self.known_scale(variables, error, xp)
        return Noise("student_t", output, scale, self._degrees(variables))

    def information_root(
        self, output: Any, variables: Mapping[str, Any], error: Any, xp: Any
    ) -> Any:
        """Give the root of (nu + 1) / (nu + 3) / sigma^2 (Lange, Little and Taylor 1989)."""
        degrees = self._degrees(variables)
        scale = self.known_scale(variables, error, xp)
        return diagonal(xp.sqrt((degrees + 1) / (degrees + 3)) / scale, output, xp)

    def _degrees(self, variables: Mapping[str, Any]) -> Any:
        return variables[DEGREES] if self.degrees_of_freedom is None else self.degrees_of_freedom


build = StudentT
