"""The protocol of likelihoods: the distribution of the target around the outputs of a network.

A likelihood observes the target in a PyMC model, and defines the meaning of the outputs of the
network. PyMC is imported only where a model is built, because predictions do not need it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

TARGET = "target"
NOISE = "noise"
PRECISION = f"{NOISE}_precision"
DEGREES = "degrees_of_freedom"
ERROR = f"{TARGET}_error"
CLASS = "int32"
"""The type of a class in PyMC."""

FEWEST_DEGREES = 2.0


class Noise(NamedTuple):
    """The noise of a target by its likelihood: family, centre, scale and degrees of freedom.

    Centre and scale are in the network's units and broadcast over (point,); a scale is the sd of a
    Gaussian, and the scale of a Student-t or a Laplace distribution.
    """

    family: str
    centre: Any
    scale: Any
    degrees_of_freedom: Any = None


class Likelihood(Protocol):
    """An object that observes the target around the outputs of a network."""

    def outputs(self, targets: int) -> int:
        """Count the network's outputs for this number of targets or classes."""
        ...

    def observe(self, output: Any, target: Any, error: Any) -> Any:
        """Observe the target (point,) or (point, output) as a PyMC variable.

        The `error`, the sd of the numerical noise of every target, adds to the scale in quadrature.
        """
        ...

    def quantities(self, output: Any, xp: Any) -> Any:
        """Return the functions whose convergence is checked at each point."""
        ...

    def noise(self, output: Any, variables: Mapping[str, Any], error: Any, xp: Any) -> Noise | None:
        """Return the distribution of the target at each point; None for classes."""
        ...

    def moved(self, output: Any, variables: Mapping[str, Any], error: Any, xp: Any) -> Any:
        """Return the distribution parameters that vary with position: (point,) or (point, entry).

        They are the outputs, and the logarithms of a learned scale and learned degrees of freedom.
        """
        ...

    def information_root(
        self, output: Any, variables: Mapping[str, Any], error: Any, xp: Any
    ) -> Any:
        """Return R (point, row, entry); R'R is the Fisher information of the entries of `moved`."""
        ...


def in_quadrature(scale: Any, error: Any, xp: Any) -> Any:
    """Add the error of a target, where there is one, to a scale."""
    return scale if error is None else xp.sqrt(scale**2 + error**2)


def diagonal(root: Any, output: Any, xp: Any) -> Any:
    """Expand a root that broadcasts over outputs (point,) or (point, output) to a diagonal."""
    each = xp.broadcast_to(root, output.shape)
    each = each[..., None] if output.ndim == 1 else each
    return each[..., None] * xp.eye(each.shape[-1], dtype=each.dtype)


def of_blocks(blocks: Sequence[Sequence[Any]], output: Any, xp: Any) -> Any:
    """Join roots that are diagonal in the same targets into the root of all entries."""
    rows = [[diagonal(root, output, xp) for root in row] for row in blocks]
    joined = [row[0] if len(row) == 1 else xp.concatenate(row, axis=-1) for row in rows]
    return joined[0] if len(joined) == 1 else xp.concatenate(joined, axis=-2)


def with_entries(output: Any, learned: Sequence[Any], xp: Any) -> Any:
    """Append arrays of the same shape to outputs (point,) or (point, output) as entries."""
    if not learned:
        return output
    every = [xp.broadcast_to(one, output.shape) for one in (output, *learned)]
    return xp.concatenate([one.reshape(len(output), -1) for one in every], axis=-1)


class Scaled:
    """Base of likelihoods with one shape about each output and a fixed or learned scale.

    Each target has its own learned scale. A priori it is half-normal with `scale`, truncated
    below the `floor`; or with a `precision` its inverse square is Gamma of that `shape` and
    `rate`. Scales and errors are in the network's units; an error adds to the scale in quadrature.
    """

    sigma: float | None
    scale: float = 1.0
    floor: float = 0.0
    precision: Mapping[str, float] | None = None

    def outputs(self, targets: int) -> int:
        """Return the number of targets."""
        return targets

    def quantities(self, output: Any, xp: Any) -> Any:
        """Return the outputs."""
        return output

    def stated_scale(self, output: Any, error: Any) -> Any:
        """Return a fixed scale, or define a learned one in PyMC, with the error of each target."""
        import pymc as pm
        import pytensor.tensor as pt

        if self.sigma is not None:
            return in_quadrature(pm.floatX(self.sigma), error, pt)
        return in_quadrature(self._learned_scale("output" if output.ndim == 2 else None), error, pt)

    def _learned_scale(self, dims: str | None) -> Any:
        import pymc as pm
        import pytensor.tensor as pt

        scale = pm.floatX(self.scale)
        if self.precision is not None:
            shape, rate = (pm.floatX(self.precision[name]) for name in ("shape", "rate"))
            precision = pm.Gamma(PRECISION, shape, rate, dims=dims)
            return pm.Deterministic(NOISE, 1 / pt.sqrt(precision), dims=dims)
        if self.floor == 0:
            return pm.HalfNormal(NOISE, scale, dims=dims)
        return pm.TruncatedNormal(NOISE, sigma=scale, lower=pm.floatX(self.floor), dims=dims)

    def moved(self, output: Any, variables: Mapping[str, Any], error: Any, xp: Any) -> Any:
        """Return the outputs and the logarithms of the learned noise parameters."""
        return with_entries(output, self.learned(variables, error, xp), xp)

    def learned(self, variables: Mapping[str, Any], error: Any, xp: Any) -> list[Any]:
        """Return the logarithm of a learned scale, errors included; none if the scale is fixed."""
        return [] if self.sigma is not None else [xp.log(self.known_scale(variables, error, xp))]

    def orthogonal_root(
        self, of_output: Any, of_log_scale: Any, output: Any, scale: Any, xp: Any
    ) -> Any:
        """Return the root of a distribution that is symmetric about its output.

        The information has no cross term between the output and the logarithm of a learned scale.
        """
        if self.sigma is not None:
            return diagonal(of_output / scale, output, xp)
        return of_blocks([[of_output / scale, 0.0], [0.0, of_log_scale]], output, xp)

    def known_scale(self, variables: Mapping[str, Any], error: Any, xp: Any) -> Any:
        """Return a fixed scale, or the learned one from the variables, with the errors."""
        return in_quadrature(variables[NOISE] if self.sigma is None else self.sigma, error, xp)
