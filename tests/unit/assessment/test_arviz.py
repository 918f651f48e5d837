"""Monte-Carlo standard errors against AR(1) chains, whose answer is known."""

import numpy as np
import pytest
from scipy.signal import lfilter

from nlobayes.assessment import _arviz

DRAWS = 4 * 5000


def ar1(rho: float, seed: int) -> np.ndarray:
    """Stationary AR(1) chains of unit variance, axes (chain, draw, quantity)."""
    steps = np.random.default_rng(seed).standard_normal((4, DRAWS // 4, 30))
    steps[:, 1:] *= np.sqrt(1 - rho**2)
    return lfilter([1.0], [1.0, -rho], steps, axis=1)


@pytest.mark.statistical
@pytest.mark.parametrize("rho", [0.0, 0.8])
def test_standard_errors_of_ar1_chains(rho: float) -> None:
    """Squares of a Gaussian AR(1) have autocorrelation rho^(2t); medians within 5 %."""
    chains = 3 * ar1(rho, seed=1)
    quantities = range(chains.shape[2])
    of_mean = np.median([_arviz.mcse_mean(chains[:, :, i]) for i in quantities])
    of_sd = np.median([_arviz.mcse_sd(chains[:, :, i]) for i in quantities])
    assert of_mean == pytest.approx(3 * np.sqrt((1 + rho) / (1 - rho) / DRAWS), rel=0.05)
    time_of_squares = (1 + rho**2) / (1 - rho**2)
    assert of_sd == pytest.approx(3 * np.sqrt(time_of_squares / (2 * DRAWS)), rel=0.05)


@pytest.mark.statistical
def test_standard_error_of_the_mean_is_the_scatter_of_means() -> None:
    """200 runs of 4 x 500 draws: scatter of 200 means known to 5 %, tolerance three times that."""
    runs = np.random.default_rng(2).exponential(size=(200, 4, 500))
    scatter = {"mean": runs.mean(axis=(1, 2)).std(), "sd": runs.std(axis=(1, 2)).std()}
    assert np.median([_arviz.mcse_mean(run) for run in runs]) == pytest.approx(
        scatter["mean"], rel=0.15
    )
    assert np.median([_arviz.mcse_sd(run) for run in runs]) == pytest.approx(
        scatter["sd"], rel=0.15
    )
