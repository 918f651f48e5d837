"""Autocorrelation against direct sums and against AR(1) chains, whose answer is known."""

import numpy as np
import pytest

from nlobayes.diagnostics.autocorrelation import (
    autocorrelation,
    initial_monotone_sequence,
    integrated_time,
    mean_autocorrelation,
    sokal_time,
)
from tests.chains import ar1


def direct_autocorrelation(draws: np.ndarray) -> np.ndarray:
    """The definition, one lag at a time, for draws (chain, draw)."""
    centred = draws - draws.mean(axis=1, keepdims=True)
    count = draws.shape[1]
    covariance = [
        sum(float(chain[: count - lag] @ chain[lag:]) for chain in centred) for lag in range(count)
    ]
    return np.array(covariance) / covariance[0]


def direct_integrated_time(rho: np.ndarray) -> float:
    """Geyer's initial monotone sequence as a loop."""
    total, previous = -1.0, np.inf
    for m in range(0, len(rho) - 1, 2):
        pair = rho[m] + rho[m + 1]
        if pair <= 0:
            break
        previous = min(pair, previous)
        total += 2 * previous
    return total


@pytest.mark.parametrize("draws", [64, 101])
def test_fft_equals_direct_sum(draws: int) -> None:
    chains = ar1(0.8, (3, draws, 2), seed=1)
    for quantity in range(2):
        np.testing.assert_allclose(
            autocorrelation(chains)[:, quantity],
            direct_autocorrelation(chains[:, :, quantity]),
            atol=1e-12,
        )


@pytest.mark.parametrize("rho", [-0.4, 0.0, 0.6, 0.95])
def test_integrated_time_equals_direct_loop(rho: float) -> None:
    chains = ar1(rho, (4, 300), seed=2)
    expected = direct_integrated_time(direct_autocorrelation(chains))
    np.testing.assert_allclose(integrated_time(chains), expected, rtol=1e-10)


@pytest.mark.statistical
@pytest.mark.parametrize("rho", [-0.5, 0.0, 0.5, 0.9])
def test_integrated_time_of_ar1(rho: float) -> None:
    """Median of 40 quantities within 5 % of (1 + rho) / (1 - rho)."""
    times = integrated_time(ar1(rho, (4, 5000, 40), seed=3))
    assert times.shape == (40,)
    np.testing.assert_allclose(np.median(times), (1 + rho) / (1 - rho), rtol=0.05)


@pytest.mark.statistical
def test_autocorrelation_of_ar1_decays_geometrically() -> None:
    rho = autocorrelation(ar1(0.7, (4, 20000, 20), seed=4)).mean(axis=1)
    np.testing.assert_allclose(rho[:8], 0.7 ** np.arange(8), atol=0.01)


def test_antithetic_time_stays_positive() -> None:
    alternating = np.tile([1.0, -1.0], (2, 50))
    assert integrated_time(alternating) == pytest.approx(1 / np.log10(200))


def test_unmoved_quantity_is_fully_correlated() -> None:
    still = np.full((2, 50, 1), 0.1)
    np.testing.assert_array_equal(autocorrelation(still), 1.0)
    np.testing.assert_allclose(integrated_time(still), 2 * 50 - 1)
    np.testing.assert_allclose(sokal_time(still), 2 * 50 - 1)


def test_initial_sequence_by_hand() -> None:
    """Pairs 1.5, 0.5, 1.0 (scaled to 0.5), -0.1: the end; a lone last lag is a pair with zero."""
    rho = np.array([1.0, 0.5, 0.3, 0.2, 0.6, 0.4, 0.1, -0.2, 0.3])
    expected = [1.0, 0.5, 0.3, 0.2, 0.3, 0.2, 0.0, 0.0, 0.0]
    np.testing.assert_allclose(initial_monotone_sequence(rho), expected)
    np.testing.assert_allclose(initial_monotone_sequence(rho[:5]), [1.0, 0.5, 0.3, 0.2, 0.5])


def direct_sokal_time(rho: np.ndarray, c: float) -> float:
    """Add lags until the window is c times the sum."""
    total = 1.0
    for lag in range(1, len(rho)):
        if lag - 1 >= c * total:
            break
        total += 2 * rho[lag]
    return total


@pytest.mark.parametrize("rho", [-0.4, 0.0, 0.6, 0.95])
@pytest.mark.parametrize("c", [3.0, 5.0, 1e6])
def test_sokal_time_equals_direct_loop(rho: float, c: float) -> None:
    """A window that is never wide enough ends with the chain; times of a few draws are bounded."""
    chains = ar1(rho, (4, 300, 2), seed=12)
    expected = [
        max(direct_sokal_time(direct_autocorrelation(chains[:, :, i]), c), 1 / np.log10(1200))
        for i in range(2)
    ]
    np.testing.assert_allclose(sokal_time(chains, c), expected, rtol=1e-9)


@pytest.mark.statistical
@pytest.mark.parametrize("rho", [0.0, 0.5, 0.9])
def test_sokal_time_of_ar1(rho: float) -> None:
    """Median of 40 quantities within 5 % of (1 + rho) / (1 - rho)."""
    times = sokal_time(ar1(rho, (4, 5000, 40), seed=13))
    assert np.median(times) == pytest.approx((1 + rho) / (1 - rho), rel=0.05)


def test_mean_autocorrelation_counts_inputs_alike() -> None:
    """Each input is normalised before the average: the scale of one does not matter."""
    chains = np.concatenate(
        [1000 * ar1(0.9, (2, 60, 1), seed=15), ar1(0.0, (2, 60, 1), seed=16)], axis=2
    )
    expected = np.mean([direct_autocorrelation(chains[:, :, i]) for i in range(2)], axis=0)
    np.testing.assert_allclose(mean_autocorrelation(chains), expected, atol=1e-12)
