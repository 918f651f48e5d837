"""Convergence against theory, hand calculation and ArviZ."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import stats

from nlobayes.diagnostics import convergence
from tests.chains import ar1, arviz
from tests.refusals import refused


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
@pytest.mark.parametrize("chains", [2, 4, 16])
def test_rhat_by_chance_is_that_of_converged_chains(chains: int) -> None:
    """By chi² of the means of halves: 1 in 100 000 is beyond, and the mean is as expected."""
    rho, draws = 0.5, 600
    found = convergence.rhat(ar1(rho, (chains, draws, 300), seed=12))
    ess = chains * draws * (1 - rho) / (1 + rho)
    by_chance = float(convergence.rhat_by_chance(np.array(ess), chains, draws))
    free = 2 * chains - 1
    scale = (by_chance**2 - 1 + 2 / draws) / stats.chi2.isf(1e-5, free)
    expected = stats.chi2.isf([0.5, 0.01], free) * scale - 2 / draws
    assert found.max() < by_chance
    assert np.quantile(found**2 - 1, [0.4, 0.98]) == pytest.approx(expected, rel=0.35)


@pytest.mark.statistical
def test_pooled_over_within_distinguishes_modes() -> None:
    draws = ar1(0.5, (4, 1000, 20), seed=7)
    together = np.median(convergence.ess_bulk(draws) / convergence.ess_within(draws))
    moved = draws + 5 * np.arange(4)[:, None, None]
    apart = convergence.ess_bulk(moved) / convergence.ess_within(moved)
    assert together == pytest.approx(1.0, abs=0.1)
    assert apart.max() < 0.02


@pytest.mark.statistical
@pytest.mark.parametrize("rho", [0.0, 0.9])
def test_ebfmi_of_ar1_energy(rho: float) -> None:
    """E[(change)^2] / variance = 2 (1 - rho), within four standard errors of the variance."""
    energy = ar1(rho, (3, 20_000), seed=8)
    result = convergence.ebfmi(energy)
    assert result.mean() == pytest.approx(2 * (1 - rho), rel=0.07)


def gelman_rubin_by_hand(draws: np.ndarray) -> float:
    """Brooks and Gelman (1998) as a loop over the chains of one quantity."""
    chains, drawn = draws.shape
    means = [sum(chain) / drawn for chain in draws]
    grand = sum(means) / chains
    between = drawn / (chains - 1) * sum((mean - grand) ** 2 for mean in means)
    within = sum(
        sum((x - mean) ** 2 for x in chain) / (drawn - 1)
        for chain, mean in zip(draws, means, strict=True)
    )
    within /= chains
    pooled = (drawn - 1) / drawn * within + between / drawn
    factor = (chains + 1) / chains
    return float(np.sqrt(factor * pooled / within - (drawn - 1) / (chains * drawn)))


@pytest.mark.parametrize("shape", [(2, 8), (3, 20), (5, 11)])
def test_gelman_rubin_matches_its_definition(shape: tuple[int, int]) -> None:
    draws = np.random.default_rng(20).normal(size=(*shape, 3))
    draws[0, :, 1] += 2.0
    expected = [gelman_rubin_by_hand(draws[:, :, quantity]) for quantity in range(3)]
    result = convergence.gelman_rubin(draws)
    np.testing.assert_allclose(result, expected, rtol=1e-12)
    assert result[1] > 1.2 > result[0]


def test_gelman_rubin_of_numbers_worked_out() -> None:
    """W = 8/7, B/N = 2: σ₊² = 7/8 · 8/7 + 2 = 3, R² = 3/2 · 3 · 7/8 - 7/16 = 3.5."""
    inside = np.tile([-1.0, 1.0], 4)
    draws = np.stack([inside, inside + 2])[..., None]
    assert convergence.gelman_rubin(draws)[0] == pytest.approx(np.sqrt(3.5))


def test_gelman_rubin_is_blind_to_spread_where_rhat_is_not() -> None:
    draws = ar1(0.0, (4, 500, 1), seed=21)
    draws[0] *= 4.0
    assert convergence.gelman_rubin(draws)[0] < 1.01 < 1.1 < convergence.rhat(draws)[0]


def nested_by_hand(draws: np.ndarray, superchains: int) -> float:
    """Margossian et al. (2024) as loops, for one quantity."""
    groups = np.split(draws, superchains)
    within = []
    for group in groups:
        means = [chain.mean() for chain in group]
        inside = np.mean([chain.var(ddof=1) for chain in group])
        within.append(inside + (np.var(means, ddof=1) if len(group) > 1 else 0.0))
    between = np.var([group.mean() for group in groups], ddof=1)
    return float(np.sqrt(1 + between / np.mean(within)))


@pytest.mark.parametrize("superchains", [2, 3, 6])
def test_nested_rhat_matches_its_definition(superchains: int) -> None:
    draws = ar1(0.7, (6, 12, 4), seed=22)
    draws[:3, :, 2] += 1.0
    expected = [nested_by_hand(draws[:, :, quantity], superchains) for quantity in range(4)]
    np.testing.assert_allclose(convergence.nested_rhat(draws, superchains), expected, rtol=1e-12)


@pytest.mark.statistical
def test_nested_rhat_of_independent_draws_is_nearly_one() -> None:
    """B/W is 1 / (16 x 10) for 16 chains of 10: the mean over 200 quantities to 20 %, 3 errors."""
    draws = np.random.default_rng(23).normal(size=(64, 10, 200))
    nested = convergence.nested_rhat(draws, 4)
    assert np.mean(nested**2 - 1) == pytest.approx(1 / 160, rel=0.2)
    draws[:16] += 1.0
    assert np.all(convergence.nested_rhat(draws, 4) > 1.05)


@pytest.mark.statistical
def test_nested_rhat_accepts_many_short_chains_that_rhat_refuses() -> None:
    """Stationary chains of a tenth of their autocorrelation time, and the same in two modes."""
    draws = ar1(0.98, (128, 10, 20), seed=28)
    assert convergence.rhat(draws).min() > 2
    assert convergence.nested_rhat(draws, 4).max() < 1.1
    draws[:64] += 2.0
    assert convergence.nested_rhat(draws, 4).min() > 1.2


@pytest.mark.parametrize("superchains", [0, 1, 3, 8])
def test_nested_rhat_refuses_unequal_groups(superchains: int) -> None:
    with refused("diagnostics.superchains", superchains=superchains, chains=4):
        convergence.nested_rhat(np.random.default_rng(24).normal(size=(4, 10, 2)), superchains)


@pytest.mark.statistical
@pytest.mark.parametrize("probability", [None, 0.025, 0.975])
def test_standard_errors_per_quantity_are_those_of_arviz(probability: float | None) -> None:
    """The mean by theory, sqrt((1 + rho) / ((1 - rho) n)); quantiles by the library itself."""
    draws = ar1(0.5, (4, 1000, 10), seed=25) * np.arange(1.0, 11.0)
    if probability is None:
        expected = np.arange(1.0, 11.0) * np.sqrt(3 / 4000)
        np.testing.assert_allclose(convergence.mcse_mean(draws), expected, rtol=0.2)
        return
    reference = [
        arviz.mcse(draws[:, :, quantity], method="quantile", prob=probability)
        for quantity in range(10)
    ]
    np.testing.assert_allclose(convergence.mcse_quantile(draws, probability), reference)


@pytest.mark.parametrize("probability", [0.0, 1.0, -0.1, np.nan])
def test_a_quantile_outside_its_range_is_refused(probability: float) -> None:
    with refused("diagnostics.probability", probability=probability):
        convergence.mcse_quantile(np.random.default_rng(26).normal(size=(2, 10, 1)), probability)


def test_the_variance_splits_into_its_parts() -> None:
    draws = ar1(0.5, (3, 40, 5), seed=27) + np.arange(3.0)[:, None, None]
    split = convergence.variance_split(draws)
    np.testing.assert_allclose(split.between + split.within, draws.var(axis=(0, 1)), rtol=1e-12)
    np.testing.assert_allclose(split.between, draws.mean(axis=1).var(axis=0), rtol=1e-12)
    np.testing.assert_allclose(split.share, split.between / draws.var(axis=(0, 1)), rtol=1e-12)


def test_what_is_constant_has_no_variance_to_split() -> None:
    """0.1 is no binary fraction: means of it round."""
    still = np.full((3, 9, 1), 0.1)
    assert still.mean(axis=1).var() > 0
    split = convergence.variance_split(still)
    assert split.between.tolist() == split.within.tolist() == split.share.tolist() == [0.0]
    assert convergence.between_chain_variance_share(still) == 0.0


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


MEASURES: dict[str, Callable[[np.ndarray], np.ndarray | float]] = {
    "rhat": convergence.rhat,
    "gelman_rubin": convergence.gelman_rubin,
    "nested_rhat": lambda draws: convergence.nested_rhat(draws, 2),
    "ess_bulk": convergence.ess_bulk,
    "ess_tail": convergence.ess_tail,
    "ess_within": convergence.ess_within,
    "mcse_mean": convergence.mcse_mean,
    "mcse_quantile": lambda draws: convergence.mcse_quantile(draws, 0.025),
    "variance_split": lambda draws: convergence.variance_split(draws).within,
    "between_chain_variance_share": convergence.between_chain_variance_share,
}


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize(
    ("shape", "fault", "fields"),
    [
        ((1, 50, 2), "few_chains", {"fewest": 2, "chains": 1}),
        ((4, 7, 2), "few_draws", {"fewest": 8, "fewest_of_half": 4, "draws": 7}),
        ((4, 50), "draws_shape", {"shape": (4, 50)}),
        ((4, 50, 0), "draws_shape", {"shape": (4, 50, 0)}),
    ],
)
def test_refuses_too_little(
    measure: str, shape: tuple[int, ...], fault: str, fields: dict[str, Any]
) -> None:
    with refused(f"diagnostics.{fault}", **fields):
        MEASURES[measure](np.random.default_rng(1).normal(size=shape))


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("broken", [np.nan, np.inf])
def test_refuses_broken_chains_by_number(measure: str, broken: float) -> None:
    draws = np.zeros((4, 10, 2))
    draws[2, 5, 1] = broken
    with refused("diagnostics.draws_not_finite", chains=[2]):
        MEASURES[measure](draws)


def test_unmoved_chains_are_not_converged() -> None:
    """The constant values may be equal (0.1 rounds) or different."""
    apart = np.ones((4, 20, 2)) * np.array([1.0, 1.1, 1.2, 1.3])[:, None, None]
    for stuck in (apart, np.full((4, 20, 2), 0.1)):
        for measure in ("rhat", "gelman_rubin", "nested_rhat", "mcse_mean", "mcse_quantile"):
            assert np.asarray(MEASURES[measure](stuck)).tolist() == [np.inf, np.inf], measure
        for measure in ("ess_bulk", "ess_tail", "ess_within", "variance_split"):
            assert np.asarray(MEASURES[measure](stuck)).tolist() == [0.0, 0.0], measure
    assert convergence.between_chain_variance_share(apart) == pytest.approx(1.0)


@pytest.mark.parametrize("measure", MEASURES)
def test_short_chains_that_hardly_move_give_no_nan(measure: str) -> None:
    """Steps between few values, also at the middle draw, which belongs to neither half."""
    rng = np.random.default_rng(0)
    draws = np.zeros((2, 9, 42))
    draws[0, 4, 0] = 1.0
    draws[1, 4:, 1] = 1.0
    draws[:, :, 2:22] = rng.choice([-1.0, 1.0], (2, 9, 20))
    draws[rng.integers(2, size=20), rng.integers(9, size=20), np.arange(22, 42)] = 1.0
    assert not np.isnan(MEASURES[measure](draws)).any()


def test_one_stuck_chain_of_four_is_seen() -> None:
    draws = np.random.default_rng(9).normal(size=(4, 200, 1))
    draws[0] = 3.0
    assert convergence.rhat(draws)[0] > 1.2
    assert convergence.ess_bulk(draws)[0] < 40
