"""Convergence against theory, hand calculation and ArviZ; the verdict against the contract."""

import json
import warnings
from typing import Any

import numpy as np
import pytest
from scipy import stats
from scipy.signal import lfilter

from nlobayes.assessment import convergence
from nlobayes.assessment.convergence import (
    PosteriorDraws,
    SampleStats,
    Thresholds,
    diagnose,
)
from nlobayes.errors import InputError

CONTRACT = {
    "rhat_f_median", "rhat_f_p99", "rhat_f_share_below_1_01", "rhat_weights_median",
    "ess_f_bulk_median", "ess_f_bulk_min", "ess_f_tail_min", "rhat_log_density", "rhat_noise",
    "divergences", "acceptance_rate", "max_depth_share", "ebfmi_min", "gradients_total",
    "gradients_per_draw", "autocorrelation_time_f_median", "tightness",
    "ess_pooled_over_within", "log_density_spread_over_sd", "between_chain_variance_share",
    "thinning_step", "chains", "draws_per_chain", "exact", "checks",
}  # fmt: skip
THRESHOLDS = Thresholds(
    rhat_f_median=1.01, rhat_f_p99=1.05, ess_f_bulk_min=100.0, ebfmi_min=0.3, max_divergences=0
)


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


def posterior(seed: int = 1, *, chains: int = 4, stored: int = 250) -> PosteriorDraws:
    """Converged draws: 5 reference points, 3 weights, fixed noise."""
    rng = np.random.default_rng(seed)
    return PosteriorDraws(
        function=rng.normal(size=(chains, stored, 5)),
        log_density=rng.normal(size=(chains, stored)),
        noise=None,
        weights=rng.normal(size=(chains, stored, 3)),
    )


def hmc_stats(seed: int = 2, *, shape: tuple[int, int] = (4, 250)) -> SampleStats:
    return SampleStats(
        energy=np.random.default_rng(seed).normal(size=shape),
        acceptance_rate=np.full(shape, 0.75),
        diverging=np.zeros(shape, dtype=bool),
        n_steps=np.full(shape, 16),
        tree_depth=None,
        max_tree_depth=None,
    )


def verdict(draws: PosteriorDraws, sampled: SampleStats, **changes: Any) -> dict[str, Any]:
    settings = {
        "thresholds": THRESHOLDS,
        "tightness": 4e5,
        "gradients_warmup": 1000,
        "keep_every": 1,
        "exact": True,
    }
    return diagnose(draws, sampled, **{**settings, **changes})


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


def test_diagnose_has_exactly_the_keys_of_the_contract() -> None:
    result = verdict(posterior(), hmc_stats())
    assert set(result) == CONTRACT
    assert {name for name, value in result.items() if value is None} == {
        "rhat_noise",
        "max_depth_share",
    }
    assert set(result["checks"]) == {
        "rhat_f_median", "rhat_f_p99", "ess_f_bulk_min", "ebfmi_min", "divergences"
    }  # fmt: skip
    assert all(
        set(check) == {"value", "threshold", "passed"} for check in result["checks"].values()
    )
    assert json.loads(json.dumps(result, allow_nan=False)) == result


def test_diagnose_counts_draws_and_gradients() -> None:
    """Weights of every fifth of 250 independent draws are stored; times count all draws."""
    draws = posterior()
    result = verdict(draws._replace(weights=draws.weights[:, 4::5]), hmc_stats(), keep_every=5)
    assert result["draws_per_chain"] == 250
    assert result["gradients_per_draw"] == 16
    assert result["gradients_total"] == 4 * 250 * 16 + 1000
    assert result["autocorrelation_time_f_median"] == pytest.approx(1, rel=0.2)
    assert result["thinning_step"] == 5
    assert (result["chains"], result["tightness"], result["exact"]) == (4, 4e5, True)
    assert result["acceptance_rate"] == pytest.approx(0.75)


def test_diagnose_reports_learned_noise_and_trees() -> None:
    noise = ar1(0.2, (4, 250), seed=10)
    depth = np.full((4, 250), 5)
    depth[0, :50] = 8
    result = verdict(
        posterior()._replace(noise=noise),
        hmc_stats()._replace(tree_depth=depth, max_tree_depth=8),
    )
    assert result["rhat_noise"] == pytest.approx(rhat_by_definition(noise[:, :-2]), abs=0.01)
    assert result["max_depth_share"] == pytest.approx(0.05)


def test_diagnose_summarises_over_reference_points() -> None:
    draws = posterior()
    draws.function[0, :, 4] += 4.0
    agreement = convergence.rhat(draws.function)
    bulk = convergence.ess_bulk(draws.function)
    result = verdict(draws, hmc_stats())
    assert result["rhat_f_median"] == np.sort(agreement)[2]
    assert result["rhat_f_p99"] == pytest.approx(np.percentile(agreement, 99))
    assert result["rhat_f_share_below_1_01"] == np.mean(agreement < 1.01) <= 0.8
    assert (result["ess_f_bulk_min"], result["ess_f_bulk_median"]) == (bulk[4], np.median(bulk))
    assert result["ess_f_tail_min"] == convergence.ess_tail(draws.function).min()


def test_converged_posterior_passes_every_check() -> None:
    checks = verdict(posterior(stored=1000), hmc_stats(shape=(4, 1000)))["checks"]
    assert all(check["passed"] for check in checks.values())


@pytest.mark.parametrize(
    ("broken", "expected"),
    [
        ("one point", {"rhat_f_p99", "ess_f_bulk_min"}),
        ("every point", {"rhat_f_median", "rhat_f_p99", "ess_f_bulk_min"}),
        ("energy", {"ebfmi_min"}),
        ("divergence", {"divergences"}),
    ],
)
def test_each_failure_fails_its_own_checks(broken: str, expected: set[str]) -> None:
    draws, sampled = posterior(stored=1000), hmc_stats(shape=(4, 1000))
    if broken == "one point":
        draws.function[0, :, 0] += 4.0
    elif broken == "every point":
        draws.function[0] += 4.0
    elif broken == "energy":
        sampled.energy[1] = ar1(0.95, (1, 1000), seed=11)
    else:
        sampled.diverging[2, 7] = True
    checks = verdict(draws, sampled)["checks"]
    assert {name for name, check in checks.items() if not check["passed"]} == expected


def test_thresholds_are_inclusive_and_recorded() -> None:
    draws, sampled = posterior(), hmc_stats()
    sampled.diverging[0, :3] = True
    values = verdict(draws, sampled)
    limits = Thresholds(
        values["rhat_f_median"],
        values["rhat_f_p99"],
        values["ess_f_bulk_min"],
        values["ebfmi_min"],
        3,
    )
    checks = verdict(draws, sampled, thresholds=limits)["checks"]
    for name, check in checks.items():
        assert check == {"value": values[name], "threshold": values[name], "passed": True}


def test_stuck_sampler_yields_a_failed_verdict_in_plain_json() -> None:
    levels = np.array([1.0, 1.1, 1.2, 1.3])
    draws = PosteriorDraws(
        function=np.ones((4, 20, 3)) * levels[:, None, None],
        log_density=np.ones((4, 20)) * levels[:, None],
        noise=None,
        weights=np.ones((4, 20, 2)),
    )
    result = verdict(draws, hmc_stats(shape=(4, 20))._replace(energy=np.ones((4, 20))))
    json.dumps(result, allow_nan=False)
    failed = {name for name, check in result["checks"].items() if not check["passed"]}
    assert failed == {"rhat_f_median", "rhat_f_p99", "ess_f_bulk_min", "ebfmi_min"}
    assert result["rhat_f_median"] is None
    assert result["thinning_step"] > result["draws_per_chain"]


@pytest.mark.parametrize(
    ("draws", "sampled"),
    [
        (posterior()._replace(weights=np.zeros((3, 250, 2))), hmc_stats()),
        (posterior()._replace(log_density=np.zeros((4, 249))), hmc_stats()),
        (posterior(), hmc_stats(shape=(4, 249))),
    ],
)
def test_diagnose_refuses_arrays_that_do_not_fit(
    draws: PosteriorDraws, sampled: SampleStats
) -> None:
    with pytest.raises(InputError, match=r"axes \(chain, draw\) of shape \(4, 250\)"):
        verdict(draws, sampled, keep_every=1)


def test_diagnose_refuses_half_given_trees() -> None:
    with pytest.raises(InputError, match="both be given"):
        verdict(posterior(), hmc_stats()._replace(max_tree_depth=8))
