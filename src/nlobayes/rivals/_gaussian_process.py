"""Hyperparameters and predictions of a Gaussian process, by scikit-learn."""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, Kernel, Matern, WhiteKernel

from nlobayes.rivals import RivalOutput
from nlobayes.rivals._quantiles import gaussian_draws
from nlobayes.untyped import Document

JITTER = 1e-10
"""Variance added to the diagonal besides the noise, in units of the variance of the target; as long
as a matrix is not positive definite to rounding, it is multiplied by ten."""
MOST_JITTER = 1e-4
AMPLITUDES, SCALES, NOISES = (1e-3, 1e6), (1e-2, 1e4), (1e-10, 1.0)
"""Bounds: variance, length scales in units of the features, variance of the noise."""
START = 1.0, 1.0, 1e-2
"""Start of the search; from less noise it misses the maximum of noisy targets."""
POINTS = 2048
"""Points that are predicted at once."""
MOST_BYTES = 2e9
"""Memory that a gradient of the marginal likelihood may take."""


def search(kernel: str, features: np.ndarray, target: np.ndarray) -> GaussianProcessRegressor:
    """Search the hyperparameters.

    scikit-learn warns at a bound, and when rounding ends a search on noise-free targets, although
    the result is a maximum. These warnings are suppressed.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return _regressor(_kernel(kernel, features.shape[1])).fit(features, target)


def condition(
    kernel: Kernel, features: np.ndarray, target: np.ndarray, rows: np.ndarray
) -> GaussianProcessRegressor | None:
    """Condition a process of known hyperparameters on some rows.

    None where `MOST_JITTER` does not make its matrix positive definite.
    """
    jitter = JITTER
    while jitter <= MOST_JITTER:
        process = _regressor(kernel, optimizer=None, alpha=jitter)
        try:
            return process.fit(features[rows], target[rows])
        except np.linalg.LinAlgError:
            jitter *= 10
    return None


def hyperparameters(kernel: Kernel) -> Document:
    """Return the amplitude, the length scales and the noise, as standard deviations."""
    signal, noise = kernel.k1, kernel.k2
    return {
        "amplitude": float(np.sqrt(signal.k1.constant_value)),
        "length_scales": np.atleast_1d(signal.k2.length_scale).tolist(),
        "noise": float(np.sqrt(noise.noise_level)),
    }


def rows_in_memory(features: int) -> int:
    """Count the rows whose marginal likelihood has a gradient that fits into `MOST_BYTES`.

    At its peak the gradient holds three arrays (row, row, feature) and six (row, row) of float64.
    """
    return int(np.sqrt(MOST_BYTES / (8 * (3 * features + 6))))


def _kernel(name: str, features: int) -> Kernel:
    """Build amplitude x (matern_5_2 or rbf) + noise."""
    amplitude, scale, noise = START
    scales = np.full(features, scale)
    shape = RBF(scales, SCALES) if name == "rbf" else Matern(scales, SCALES, nu=2.5)
    return ConstantKernel(amplitude, AMPLITUDES) * shape + WhiteKernel(noise, NOISES)


def _regressor(
    kernel: Kernel, alpha: float = JITTER, optimizer: str | None = "fmin_l_bfgs_b"
) -> GaussianProcessRegressor:
    return GaussianProcessRegressor(kernel, alpha=alpha, optimizer=optimizer)


def predict(process: GaussianProcessRegressor, points: np.ndarray) -> RivalOutput:
    """Predict; rounding cannot make the variance smaller than that of the noise."""
    parts = [points[first : first + POINTS] for first in range(0, len(points), POINTS)]
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Predicted variances smaller than 0", UserWarning)
        found = [process.predict(part, return_std=True) for part in parts]
    mean, sd = (np.concatenate(arrays) for arrays in zip(*found, strict=True))
    noise = process.kernel_.k2.noise_level
    latent = np.sqrt(np.maximum(np.square(sd) - noise, 0.0))
    return RivalOutput(gaussian_draws(mean, latent), np.sqrt(latent**2 + noise))
