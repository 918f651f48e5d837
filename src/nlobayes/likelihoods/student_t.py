"""Student-t with stated or learned scale and degrees of freedom."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field

from nlobayes.likelihoods._scaled import ScaledLikelihood
from nlobayes.model.likelihood import DEGREES, FEWEST_DEGREES, TARGET, Noise, join_blocks
from nlobayes.untyped import Array, Module


class StudentTLikelihood(ScaledLikelihood):
    """Student-t; chains rarely mix with a learned scale on noise-free targets."""

    kind: Literal["student_t"]
    degrees_of_freedom: Annotated[float, Field(gt=2, allow_inf_nan=False)] | None = 4.0
    """More than 2, so that the variance exists; null learns them, 2 + Gamma(2, 0.1) a priori."""

    @property
    def learns_hyperparameters(self) -> bool:
        """Whether its scale or its degrees of freedom are learned."""
        return self.sigma is None or self.degrees_of_freedom is None

    def observe(self, output: Array, target: Array, error: Array = None) -> Array:
        """Observe a Student-t about the output, its scale and the error in quadrature.

        Learned degrees of freedom are 2 plus Gamma(2, 0.1), the prior of Juárez and Steel (2010, J.
        Bus. Econ. Stat. 28, 52) moved to where the variance exists.
        """
        import pymc as pm
        from pymc.pytensorf import floatX

        degrees: Array = self.degrees_of_freedom
        if degrees is None:
            above = pm.Gamma(f"{DEGREES}_above_2", floatX(2.0), floatX(0.1))
            degrees = pm.Deterministic(DEGREES, FEWEST_DEGREES + above)
        else:
            degrees = floatX(degrees)
        sigma = self.stated_scale(output, error)
        return pm.StudentT(TARGET, nu=degrees, mu=output, sigma=sigma, observed=target)

    def noise_about(
        self, output: Array, variables: Mapping[str, Array], error: Array, xp: Module
    ) -> Noise:
        """Return the Student-t of each target."""
        scale = self.known_scale(variables, error, xp)
        return Noise("student_t", output, scale, self._degrees(variables))

    def information_root(
        self, output: Array, variables: Mapping[str, Array], error: Array, xp: Module
    ) -> Array:
        """Return the root of (nu + 1) / (nu + 3) / sigma^2, and that of learned noise parameters.

        Lange, Little and Taylor (1989, J. Am. Stat. Assoc. 84, 881), appendix B.
        """
        degrees = self._degrees(variables)
        of_output = xp.sqrt((degrees + 1) / (degrees + 3)) / self.known_scale(variables, error, xp)
        if self.degrees_of_freedom is not None:
            of_log_scale = xp.sqrt(2 * degrees / (degrees + 3))
            return self.orthogonal_root(of_output, of_log_scale, output, 1.0, xp)
        scale, both, alone = shape_root(degrees, xp)
        if self.sigma is not None:
            of_degrees = xp.sqrt(both**2 + alone**2)
            return join_blocks([[of_output, 0.0], [0.0, of_degrees]], output, xp)
        blocks = [[of_output, 0.0, 0.0], [0.0, scale, both], [0.0, 0.0, alone]]
        return join_blocks(blocks, output, xp)

    def learned(self, variables: Mapping[str, Array], error: Array, xp: Module) -> list[Array]:
        """Return the logarithms of a learned scale and of learned degrees of freedom."""
        scale = super().learned(variables, error, xp)
        return (
            scale if self.degrees_of_freedom is not None else [*scale, xp.log(variables[DEGREES])]
        )

    def _degrees(self, variables: Mapping[str, Array]) -> Array:
        return variables[DEGREES] if self.degrees_of_freedom is None else self.degrees_of_freedom


def shape_root(degrees: Array, xp: Module) -> tuple[Array, Array, Array]:
    """Return the upper root [[a, b], [0, c]] of the information of log scale and log degrees.

    Their entries are 2 nu / (nu + 3), -2 nu / ((nu + 1) (nu + 3)) across, and nu^2 (psi'(nu / 2) -
    psi'((nu + 1) / 2)) / 4 - nu (nu + 5) / (2 (nu + 1) (nu + 3)) (Lange, Little and Taylor 1989).
    Computed with JAX.
    """
    from jax.scipy.special import polygamma

    of_scale = 2 * degrees / (degrees + 3)
    across = -of_scale / (degrees + 1)
    trigamma = polygamma(1, degrees / 2) - polygamma(1, (degrees + 1) / 2)
    rest = degrees * (degrees + 5) / (2 * (degrees + 1) * (degrees + 3))
    of_degrees = degrees**2 * trigamma / 4 - rest
    root = xp.sqrt(of_scale)
    left = of_degrees - across**2 / of_scale
    return root, across / root, xp.sqrt(xp.maximum(left, 0))
