"""Monte-Carlo standard errors against AR(1) chains, whose answer is known, and repetition."""

import numpy as np
import pytest
from scipy import stats
from scipy.signal import lfilter

from nlobayes.diagnostics import estimators as _arviz
from tests.chains import ar1

SHAPE = (4, 5000, 30)
DRAWS = 4 * 5000


@pytest.mark.statistical
@pytest.mark.parametrize("rho", [0.0, 0.8])
def test_standard_errors_of_ar1_chains(rho: float) -> None:
    """Squares of a Gaussian AR(1) have autocorrelation rho^(2t); medians within 5 %."""
    chains = 3 * ar1(rho, SHAPE, seed=1)
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


@pytest.mark.statistical
@pytest.mark.parametrize("probability", [0.025, 0.5, 0.975])
def test_standard_error_of_a_quantile_is_the_scatter_of_quantiles(probability: float) -> None:
    """300 runs of 4 x 500 AR(1) draws: scatter known to 4 %, its estimate is 3 % noise more."""
    steps = np.random.default_rng(3).standard_normal((300, 4, 500))
    steps[:, :, 1:] *= np.sqrt(1 - 0.5**2)
    runs = lfilter([1.0], [1.0, -0.5], steps, axis=2)
    scatter = np.quantile(runs, probability, axis=(1, 2)).std()
    estimates = [_arviz.mcse_quantile(run, probability) for run in runs]
    assert np.mean(estimates) == pytest.approx(scatter, rel=0.15)


@pytest.mark.statistical
def test_standard_error_of_a_quantile_of_independent_draws() -> None:
    """Theory: sqrt(p (1 - p) / n) over the density at the quantile.

    Each estimate rests on 45 order statistics (15 %), so the median of 30 is known to 4 %.
    """
    chains = ar1(0.0, SHAPE, seed=4)
    estimates = [_arviz.mcse_quantile(chains[:, :, i], 0.025) for i in range(30)]
    density = stats.norm.pdf(stats.norm.ppf(0.025))
    expected = np.sqrt(0.025 * 0.975 / DRAWS) / density
    assert np.median(estimates) == pytest.approx(expected, rel=0.12)


def test_standard_errors_scale_with_the_draws() -> None:
    """Also where the range is below 1e-15, which ArviZ takes for a constant."""
    chain = ar1(0.9, SHAPE, seed=5)[:, :200, 0]
    for estimate in (_arviz.mcse_mean, lambda draws: _arviz.mcse_quantile(draws, 0.1)):
        assert estimate(1e-18 * chain) == pytest.approx(1e-18 * estimate(chain), rel=1e-6, abs=0)
