"""Autocorrelation against direct sums and against AR(1) chains, whose answer is known."""

import numpy as np
import pytest
from scipy.signal import lfilter

from nlobayes.assessment.autocorrelation import autocorrelation, integrated_time, thinning_step
from nlobayes.errors import InputError


def ar1(rho: float, shape: tuple[int, ...], seed: int) -> np.ndarray:
    """Stationary AR(1) chains of unit variance along axis 1."""
    steps = np.random.default_rng(seed).standard_normal(shape)
    steps[:, 1:] *= np.sqrt(1 - rho**2)
    return lfilter([1.0], [1.0, -rho], steps, axis=1)


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


def test_offset_between_chains_does_not_matter() -> None:
    chains = ar1(0.5, (3, 200), seed=5)
    apart = chains + np.array([[0.0], [10.0], [-50.0]])
    np.testing.assert_allclose(integrated_time(apart), integrated_time(chains), rtol=1e-10)


def test_antithetic_time_stays_positive() -> None:
    alternating = np.tile([1.0, -1.0], (2, 50))
    assert integrated_time(alternating) == pytest.approx(1 / np.log10(200))


def test_unmoved_quantity_is_fully_correlated() -> None:
    still = np.full((2, 50, 1), 0.1)
    np.testing.assert_array_equal(autocorrelation(still), 1.0)
    np.testing.assert_allclose(integrated_time(still), 2 * 50 - 1)


@pytest.mark.parametrize(
    ("time", "keep_every", "expected"),
    [(0.6, 1, 1), (1.4, 1, 1), (1.6, 1, 2), (37.2, 1, 37), (8.2, 8, 8), (20.1, 8, 24), (3.0, 8, 8)],
)
def test_thinning_step_is_nearest_multiple_of_the_stride(
    time: float, keep_every: int, expected: int
) -> None:
    assert thinning_step(time, keep_every) == expected


@pytest.mark.parametrize(("time", "keep_every"), [(np.nan, 1), (np.inf, 1), (0.0, 1), (2.0, 0)])
def test_thinning_step_refuses_nonsense(time: float, keep_every: int) -> None:
    with pytest.raises(InputError, match="stride"):
        thinning_step(time, keep_every)


@pytest.mark.parametrize("draws", [np.zeros((2, 3)), np.zeros(9), np.full((2, 9), np.nan)])
def test_refuses_short_or_broken_chains(draws: np.ndarray) -> None:
    with pytest.raises(InputError, match="at least 4 draws"):
        autocorrelation(draws)
