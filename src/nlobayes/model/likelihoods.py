"""Likelihoods of numbers: how far the target may be from the network's output.

A likelihood is a value that observes the target in a PyMC model, and knows what the outputs of the
network mean. Those of classes are in `classes`. PyMC is imported where a model is stated alone:
predictions do without.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol

TARGET = "target"
NOISE = "noise"
DEGREES = "degrees_of_freedom"
ERROR = f"{TARGET}_error"

FEWEST_DEGREES = 2.0


class Noise(NamedTuple):
    """What a likelihood says of a target: its family, centre, scale and degrees of freedom.

    Centre and scale are in the network's units and broadcast over (point,); a scale is the sd of a
    Gaussian, and the scale of a Student-t or a Laplace distribution.
    """

    family: str
    centre: Any
    scale: Any
    degrees_of_freedom: Any = None


class Likelihood(Protocol):
    """What observes the target around the outputs of a network."""

    def outputs(self, targets: int) -> int:
        """Count the outputs of a network for so many targets, or classes."""
        ...

    def observe(self, output: Any, target: Any, error: Any) -> Any:
        """Observe the target (point,) or (point, output) as a PyMC variable.

        The `error`, the sd of the numerical noise of every target, adds to the scale in quadrature.
        """
        ...

    def quantities(self, output: Any, xp: Any) -> Any:
        """Give what convergence is judged by at each point: the outputs, or what they tell."""
        ...

    def noise(self, output: Any, variables: Mapping[str, Any], error: Any, xp: Any) -> Noise | None:
        """Give the distribution of the target at each point; None for classes."""
        ...

    def information_root(
        self, output: Any, variables: Mapping[str, Any], error: Any, xp: Any
    ) -> Any:
        """Give R (point, row, output) with R'R the Fisher information of the outputs of a point."""
        ...


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

        sigma = _in_quadrature(_scale_of(self, output), error, pt)
        return pm.Normal(TARGET, output, sigma, observed=target)

    def quantities(self, output: Any, xp: Any) -> Any:
        """Give the outputs."""
        return output

    def noise(self, output: Any, variables: Mapping[str, Any], error: Any, xp: Any) -> Noise:
        """Give the Gaussian of each target."""
        return Noise("gaussian", output, _in_quadrature(_read_scale(self, variables), error, xp))

    def information_root(
        self, output: Any, variables: Mapping[str, Any], error: Any, xp: Any
    ) -> Any:
        """Give 1 / sigma, one row for each output."""
        return _diagonal(1 / self.noise(output, variables, error, xp).scale, output, xp)


class StudentT(NamedTuple):
    """Student-t with a fixed or learned scale `sigma`, and fixed or learned degrees of freedom.

    Learned degrees of freedom are 2 plus Gamma(2, 0.1), the prior of Juárez and Steel (2010, J.
    Bus. Econ. Stat. 28, 52) moved to where the variance exists.
    """

    sigma: float | None
    degrees_of_freedom: float | None
    scale: float = 1.0

    def outputs(self, targets: int) -> int:
        """One for each target."""
        return targets

    def observe(self, output: Any, target: Any, error: Any = None) -> Any:
        """Observe a Student-t about the output, its scale and the error in quadrature."""
        import pymc as pm
        import pytensor.tensor as pt

        degrees: Any = self.degrees_of_freedom
        if degrees is None:
            above = pm.Gamma(f"{DEGREES}_above_2", pm.floatX(2.0), pm.floatX(0.1))
            degrees = pm.Deterministic(DEGREES, FEWEST_DEGREES + above)
        else:
            degrees = pm.floatX(degrees)
        sigma = _in_quadrature(_scale_of(self, output), error, pt)
        return pm.StudentT(TARGET, nu=degrees, mu=output, sigma=sigma, observed=target)

    def quantities(self, output: Any, xp: Any) -> Any:
        """Give the outputs."""
        return output

    def noise(self, output: Any, variables: Mapping[str, Any], error: Any, xp: Any) -> Noise:
        """Give the Student-t of each target."""
        scale = _in_quadrature(_read_scale(self, variables), error, xp)
        return Noise("student_t", output, scale, self._degrees(variables))

    def information_root(
        self, output: Any, variables: Mapping[str, Any], error: Any, xp: Any
    ) -> Any:
        """Give the root of (nu + 1) / (nu + 3) / sigma^2 (Lange, Little and Taylor 1989)."""
        degrees = self._degrees(variables)
        scale = self.noise(output, variables, error, xp).scale
        return _diagonal(xp.sqrt((degrees + 1) / (degrees + 3)) / scale, output, xp)

    def _degrees(self, variables: Mapping[str, Any]) -> Any:
        return variables[DEGREES] if self.degrees_of_freedom is None else self.degrees_of_freedom


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

        scale = _in_quadrature(_scale_of(self, output), error, pt)
        return pm.Laplace(TARGET, output, scale, observed=target)

    def quantities(self, output: Any, xp: Any) -> Any:
        """Give the outputs."""
        return output

    def noise(self, output: Any, variables: Mapping[str, Any], error: Any, xp: Any) -> Noise:
        """Give the Laplace distribution of each target."""
        return Noise("laplace", output, _in_quadrature(_read_scale(self, variables), error, xp))

    def information_root(
        self, output: Any, variables: Mapping[str, Any], error: Any, xp: Any
    ) -> Any:
        """Give 1 / b: the information of a Laplace distribution is 1 / b^2."""
        return _diagonal(1 / self.noise(output, variables, error, xp).scale, output, xp)


class Heteroscedastic(NamedTuple):
    """Gaussian whose sigma is `scale` times the exponential of a second output of the network."""

    scale: float

    def outputs(self, targets: int) -> int:
        """Two: the mean, and the logarithm of sigma over its scale."""
        return 2 * targets

    def observe(self, output: Any, target: Any, error: Any = None) -> Any:
        """Observe N(first output, sigma^2 + error^2)."""
        import pymc as pm
        import pytensor.tensor as pt

        centre, sigma = self._parts(output, error, pt)
        return pm.Normal(TARGET, centre, sigma, observed=target)

    def quantities(self, output: Any, xp: Any) -> Any:
        """Give both outputs."""
        return output

    def noise(self, output: Any, variables: Mapping[str, Any], error: Any, xp: Any) -> Noise:
        """Give the Gaussian of each target."""
        return Noise("gaussian", *self._parts(output, error, xp))

    def information_root(
        self, output: Any, variables: Mapping[str, Any], error: Any, xp: Any
    ) -> Any:
        """Give 1 / sigma of the mean and sqrt(2) of log sigma, less where errors add to it."""
        alone = self.scale * xp.exp(output[..., 1])
        _, sigma = self._parts(output, error, xp)
        roots = xp.stack([1 / sigma, 2**0.5 * (alone / sigma) ** 2], axis=-1)
        return roots[..., None] * xp.eye(2, dtype=roots.dtype)

    def _parts(self, output: Any, error: Any, xp: Any) -> tuple[Any, Any]:
        alone = self.scale * xp.exp(output[..., 1])
        return output[..., 0], _in_quadrature(alone, error, xp)


def _scale_of(likelihood: Any, output: Any) -> Any:
    """Give a fixed scale, or name a learned one for each target."""
    import pymc as pm

    if likelihood.sigma is not None:
        return pm.floatX(likelihood.sigma)
    dims = "output" if output.ndim == 2 else None
    return pm.HalfNormal(NOISE, pm.floatX(likelihood.scale), dims=dims)


def _read_scale(likelihood: Any, variables: Mapping[str, Any]) -> Any:
    return variables[NOISE] if likelihood.sigma is None else likelihood.sigma


def _in_quadrature(scale: Any, error: Any, xp: Any) -> Any:
    return scale if error is None else xp.sqrt(scale**2 + error**2)


def _diagonal(root: Any, output: Any, xp: Any) -> Any:
    """Spread a root that broadcasts over the outputs (point,) or (point, output) of each point."""
    each = xp.broadcast_to(root, output.shape)
    each = each[..., None] if output.ndim == 1 else each
    return each[..., None] * xp.eye(each.shape[-1], dtype=each.dtype)
