"""A Gaussian of two correlated dimensions, and draws against its moments."""

import jax
import numpy as np
from scipy.stats import norm

from tests.chains import arviz

COVARIANCE = np.array([[1.0, 0.95 * 2.0], [0.95 * 2.0, 4.0]])
PRECISION = np.linalg.inv(COVARIANCE)


def log_gaussian(position: jax.Array, inverse_temperature: float | jax.Array = 1.0) -> jax.Array:
    return -0.5 * inverse_temperature * position @ PRECISION @ position


def assert_moments(kept: np.ndarray) -> None:
    """Compare means, variances and covariance: z of each below the 0.1 % quantile for five."""
    x, y = kept[..., 0], kept[..., 1]
    moments = {"mean x": (x, 0.0), "mean y": (y, 0.0)}
    moments |= {"var x": (x**2, 1.0), "var y": (y**2, 4.0), "cov": (x * y, COVARIANCE[0, 1])}
    for name, (values, truth) in moments.items():
        assert arviz.ess(values, method="mean") > 1000, name
        z = abs(values.mean() - truth) / arviz.mcse(values, method="mean")
        assert z < norm.isf(0.001 / (2 * len(moments))), f"{name}: z={z:.1f}"
