"""Convergence against theory, hand calculation and ArviZ."""

import warnings

import numpy as np
import pytest
from scipy import stats
from scipy.signal import lfilter

from nlobayes.assessment import convergence
from nlobayes.errors import InputError


def ar1(rho: float, shape: tuple[int, ...], seed: int) -> np.ndarray:
    """Stationary AR(1) chains of unit variance along axis 1."""
    steps = np.random.default_rng(seed).standard_normal(shape)
    steps[:, 1:] *= np.sqrt(1 - rho**2)
    return lfilter([1.0], [1.0, -rho], steps, axis=1)


def rhat_by_definition(draws: np.ndarray) -> float:
    """Vehtari et al. (2021), written out for one quantity (chain, draw) of even length."""
    halves = np.concatenate(np.split(draws, 2, axis=1))

    def split_rhat(values: np.ndarray) -> float:
        ranks = stats.rankdata(values).reshape(values.shape)
        z = stats.norm.ppf((ranks - 0.375) / (values.size + 0.25))
        count = z.shape[1]
        within = z.var(axis=1, ddof=1).mean()
        between = count * z.mean(axis=1).var(ddof=1)
        return float(np.sqrt(((count - 1) / count * within + between / count) / within))

    return max(split_rhat(halves), split_rhat(np.abs(halves - np.median(halves))))


@pytest.mark.parametrize("case", ["agree", "shifted", "scaled", "slow"])
def test_rhat_matches_its_definition(case: str) -> None:
    draws = ar1(0.99 if case == "slow" else 0.3, (4, 400, 3), seed=3)
    draws[0] += 1.0 if case == "shifted" else 0.0
    draws[0] *= 3.0 if case == "scaled" else 1.0
    expected = [rhat_by_definition(draws[:, :, quantity]) for quantity in range(3)]
    result = convergence.rhat(draws)
    np.testing.assert_allclose(result, expected, rtol=1e-10)
    assert np.all((result < 1.01) == (case == "agree"))


@pytest.mark.statistical
@pytest.mark.parametrize("rho", [0.0, 0.5, 0.9])
def test_ess_bulk_of_ar1_chains(rho: float) -> None:
    """Median of 30 quantities within 7 % of n (1 - rho) / (1 + rho)."""
    ess = convergence.ess_bulk(ar1(rho, (4, 2500, 30), seed=4))
    np.testing.assert_allclose(np.median(ess), 10_000 * (1 - rho) / (1 + rho), rtol=0.07)


@pytest.mark.statistical
def test_ess_tail_of_independent_draws() -> None:
    """The smaller of two estimates, each n within a few per cent."""
    ess = convergence.ess_tail(ar1(0.0, (4, 2500, 30), seed=5))
    assert np.median(ess) == pytest.approx(10_000, rel=0.07)


@pytest.mark.statistical
def test_ess_tail_of_ar1_chains() -> None:
    """Time of the 5 % indicator: its lag-t correlation is a bivariate normal orthant."""
    rho, low = 0.9, stats.norm.ppf(0.05)
    joint = [
        stats.multivariate_normal([0, 0], [[1, rho**t], [rho**t, 1]]).cdf([low, low])
        for t in range(1, 80)
    ]
    time = 1 + 2 * np.sum((np.array(joint) - 0.05**2) / (0.05 * 0.95))
    ess = convergence.ess_tail(ar1(rho, (4, 5000, 30), seed=6))
    assert np.median(ess) == pytest.approx(20_000 / time, rel=0.1)


@pytest.mark.statistical
def test_pooled_over_within_tells_modes_apart() -> None:
    draws = ar1(0.5, (4, 1000, 20), seed=7)
    together = np.median(convergence.ess_pooled_over_within(draws))
    apart = convergence.ess_pooled_over_within(draws + 5 * np.arange(4)[:, None, None])
    assert together == pytest.approx(1.0, abs=0.1)
    assert apart.max() < 0.02


@pytest.mark.statistical
@pytest.mark.parametrize("rho", [0.0, 0.9])
def test_ebfmi_of_ar1_energy_and_of_arviz(rho: float) -> None:
    """E[(change)^2] / variance = 2 (1 - rho), within four standard errors of the variance."""
    energy = ar1(rho, (3, 20_000), seed=8)
    result = convergence.ebfmi(energy)
    assert result.mean() == pytest.approx(2 * (1 - rho), rel=0.07)
    with warnings.catch_warnings(action="ignore", category=FutureWarning):
        import arviz
    np.testing.assert_allclose(result, arviz.bfmi(energy), rtol=1e-10)


def test_ebfmi_of_constant_energy_is_zero() -> None:
    assert convergence.ebfmi(np.full((2, 10), 3.0)).tolist() == [0.0, 0.0]


def test_between_chain_variance_share_by_hand() -> None:
    """First quantity: means 0 and 2, sd 1 inside, so half; second: equal means; third: constant."""
    inside = np.tile([-1.0, 1.0], 4)
    chains = np.stack([inside, inside + 2])
    draws = np.stack([chains, np.stack([inside, inside]), np.ones((2, 8))], axis=-1)
    assert convergence.between_chain_variance_share(draws) == pytest.approx(0.25)


def test_log_density_spread_by_hand() -> None:
    inside = np.tile([-1.0, 1.0], 4)
    log_density = np.stack([inside, inside + 3, inside - 1])
    expected = 4 / np.sqrt(8 / 7)
    assert convergence.log_density_spread_over_sd(log_density) == pytest.approx(expected)


@pytest.mark.parametrize("measure", ["rhat", "ess_bulk", "ess_tail", "ess_pooled_over_within"])
@pytest.mark.parametrize(
    ("shape", "message"), [((1, 50, 2), "2 chains"), ((4, 3, 2), "4 draws"), ((4, 50), "axes")]
)
def test_refuses_too_little(measure: str, shape: tuple[int, ...], message: str) -> None:
    with pytest.raises(InputError, match=message):
        getattr(convergence, measure)(np.zeros(shape))


def test_refuses_broken_chains_by_number() -> None:
    draws = np.zeros((4, 10, 2))
    draws[2, 5, 1] = np.nan
    with pytest.raises(InputError, match=r"chains \[2\]"):
        convergence.rhat(draws)


def test_unmoved_chains_are_not_converged() -> None:
    stuck = np.ones((3, 20, 2)) * np.array([1.0, 1.1, 1.2])[:, None, None]
    assert convergence.rhat(stuck).tolist() == [np.inf, np.inf]
    assert convergence.ess_bulk(stuck).tolist() == [0.0, 0.0]
    assert convergence.ess_tail(np.ones((3, 20, 1))).tolist() == [0.0]
    assert convergence.between_chain_variance_share(stuck) == pytest.approx(1.0)


def test_one_stuck_chain_of_four_is_seen() -> None:
    draws = np.random.default_rng(9).normal(size=(4, 200, 1))
    draws[0] = 3.0
    assert convergence.rhat(draws)[0] > 1.2
    assert convergence.ess_bulk(draws)[0] < 40
