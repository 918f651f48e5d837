"""A Gaussian process given noisy rows: the evidence with its gradient by hand.

For rows y = f + noise with covariance C = K + diag(noise^2) the log evidence is log N(y; 0, C). Its
slope in C is (alpha alpha' - C^-1) / 2 with alpha = C^-1 y (Rasmussen and Williams 2006, eq. 5.9),
so that one factorisation and one inverse give the whole gradient.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import log, pi

import jax
import jax.numpy as jnp
from jax.scipy.linalg import cho_solve, solve_triangular

from nlobayes.model.infinite import CURVES

LOG_TWO_PI = log(2 * pi)
LARGEST_BLOCK = 256
"""Most rows of a triangle that is not halved."""


@jax.custom_vjp
def log_evidence(covariance: jax.Array, target: jax.Array) -> jax.Array:
    """Return log N(target; 0, covariance) of rows (row,) with their covariance (row, row).

    Where rounding leaves it without a root it is minus infinity, and its slope zero.
    """
    return _factorise(covariance, target)[0]


def evidence_and_weights(covariance: jax.Array, target: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Return `log_evidence`, without a slope, and the weights C^-1 y (row,) of the mean of f."""
    value, (_, weights) = _factorise(covariance, target)
    return value, weights


def _factorise(
    covariance: jax.Array, target: jax.Array
) -> tuple[jax.Array, tuple[jax.Array, jax.Array]]:
    root = jnp.linalg.cholesky(covariance, symmetrize_input=False)
    weights = cho_solve((root, True), target)
    log_determinant = 2 * jnp.sum(jnp.log(jnp.diag(root)))
    value = -(target @ weights + log_determinant + len(target) * LOG_TWO_PI) / 2
    return jnp.where(jnp.isfinite(value), value, -jnp.inf), (root, weights)


def _slopes(kept: tuple[jax.Array, jax.Array], cotangent: jax.Array) -> tuple[jax.Array, jax.Array]:
    root, weights = kept
    slope = (jnp.outer(weights, weights) - _inverse_of_square(root)) / 2
    return cotangent * jnp.where(jnp.isfinite(slope), slope, 0.0), -cotangent * weights


def _inverse_of_square(root: jax.Array) -> jax.Array:
    """Return (L L')^-1 of a lower triangle L, by halves: in less than half the time of one solve.

    With the blocks A, 0 and B, C of L the inverse has the blocks (A A')^-1 + T' S T, -T' S and S,
    where S = (C C')^-1 and T = B A^-1.
    """
    if len(root) <= LARGEST_BLOCK:
        return cho_solve((root, True), jnp.eye(len(root), dtype=root.dtype))
    half = len(root) // 2
    first, below, last = root[:half, :half], root[half:, :half], root[half:, half:]
    turn = solve_triangular(first, below.T, lower=True, trans=1).T
    of_last = _inverse_of_square(last)
    across = -of_last @ turn
    of_first = _inverse_of_square(first) - turn.T @ across
    return jnp.block([[of_first, across.T], [across, of_last]])


log_evidence.defvjp(_factorise, _slopes)


class _Fast:
    """Array functions of JAX, with an arcsine that XLA vectorises: 20 times faster on a CPU.

    ONNX Runtime, to which surrogates are written, has none in float64.
    """

    sqrt = staticmethod(jnp.sqrt)

    @staticmethod
    def arcsin(x: jax.Array) -> jax.Array:
        """Return the arcsine by the rational approximation of FDLIBM, to the last digits.

        It holds up to 1/2; beyond, asin(x) = pi / 2 - 2 asin(sqrt((1 - x) / 2)).
        """
        size = jnp.abs(x)
        is_large = size > 0.5
        square = jnp.where(is_large, (1 - size) / 2, size * size)
        root = jnp.where(is_large, jnp.sqrt(square), size)
        ratio = square * _polynomial(_NUMERATOR, square) / _polynomial(_DENOMINATOR, square)
        near = root + root * ratio
        return jnp.copysign(jnp.where(is_large, pi / 2 - 2 * near, near), x)

    @staticmethod
    def arccos(x: jax.Array) -> jax.Array:
        """Return the arccosine."""
        return pi / 2 - _Fast.arcsin(x)


def _polynomial(coefficients: Sequence[float], x: jax.Array) -> jax.Array:
    """Evaluate a polynomial, highest power first; ONNX has no `jnp.polyval` of JAX 0.12."""
    value = jnp.zeros_like(x)
    for each in coefficients:
        value = value * x + each
    return value


_NUMERATOR = (
    3.47933107596021167570e-05,
    7.91534994289814532176e-04,
    -4.00555345006794114027e-02,
    2.01212532134862925881e-01,
    -3.25565818622400915405e-01,
    1.66666666666666657415e-01,
)
_DENOMINATOR = (
    7.70381505559019352791e-02,
    -6.88283971605453293030e-01,
    2.02094576023350569471e00,
    -2.40339491173441421878e00,
    1.0,
)


def differentiable_curve(activation: str) -> Callable[[jax.Array], jax.Array]:
    """Build the curve of an activation with its own slope, which is finite for equal rows."""
    value, slope, _ = CURVES[activation]

    @jax.custom_jvp
    def curve(cosine: jax.Array) -> jax.Array:
        return value(cosine, _Fast)

    @curve.defjvp
    def slope_of_curve(
        primals: tuple[jax.Array], tangents: tuple[jax.Array]
    ) -> tuple[jax.Array, jax.Array]:
        (cosine,), (change,) = primals, tangents
        return value(cosine, _Fast), slope(cosine, _Fast) * change

    return curve
