"""The verdict on a posterior, and on the draws so far, against the contract."""

import json
from typing import Any

import numpy as np
import pytest

from nlobayes.diagnostics import convergence
from nlobayes.diagnostics.limits import TOLERATED_EXCESS, Thresholds, check_table
from nlobayes.diagnostics.run_diagnostics import Diagnostics
from nlobayes.diagnostics.verdict import ChainDraws, SampleStats, check_convergence, diagnose
from tests.refusals import refused
from tests.unit.diagnostics.test_convergence import ar1

CONTRACT = {*Diagnostics.__required_keys__}
THRESHOLDS = Thresholds(rhat_max=1.01, ess_min=400, ebfmi_min=0.3, max_divergences=0)
LIMITS = {"rhat_max": 1.01, "ess_min": 400.0}


def posterior(seed: int = 1, *, chains: int = 4, stored: int = 250) -> ChainDraws:
    """Converged draws: 5 reference points, 3 weights, fixed noise."""
    rng = np.random.default_rng(seed)
    return ChainDraws(
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


def verdict_of(draws: ChainDraws, sampled: SampleStats, **changes: Any) -> Any:
    settings = {
        "thresholds": THRESHOLDS,
        "tightness": 4e5,
        "gradients_warmup": 1000,
        "thin": 1,
        "thinning_loss": 0.1,
        "exact": True,
    }
    return diagnose(draws, sampled, **{**settings, **changes})


def test_diagnose_has_exactly_the_keys_of_the_contract() -> None:
    result = verdict_of(posterior(), hmc_stats())
    assert set(result) == CONTRACT
    assert {name for name, value in result.items() if value is None} == {
        "rhat_noise",
        "rhat_hyperparameters",
        "ess_noise",
        "ess_hyperparameters",
        "more_draws",
        "rhat_f_nested_p99",
        "divergences_at",
        "max_depth_share",
        "energy_variance",
    }
    assert set(result["checks"]) == {
        "rhat_f", "rhat_log_density", "ess_f", "ess_log_density", "ebfmi_min", "divergences",
        "still_chains",
    }  # fmt: skip
    assert all(
        set(check) == {"value", "threshold", "passed"} for check in result["checks"].values()
    )
    assert json.loads(json.dumps(result, allow_nan=False)) == result


def test_diagnose_counts_draws_and_gradients() -> None:
    """Weights of every fifth of 250 independent draws are stored; times count all draws."""
    draws = posterior()
    result = verdict_of(draws._replace(weights=draws.weights[:, 4::5]), hmc_stats(), thin=5)
    assert result["draws_per_chain"] == 250
    assert result["gradients_per_draw"] == 16
    assert result["gradients_total"] == 4 * 250 * 16 + 1000
    assert result["autocorrelation_time_f_median"] == pytest.approx(1, rel=0.2)
    assert result["thinning_step"] == 5
    assert (result["chains"], result["tightness"], result["exact"]) == (4, 4e5, True)
    assert result["acceptance_rate"] == pytest.approx(0.75)


def test_diagnose_reports_learned_noise_and_trees() -> None:
    noise = np.random.default_rng(10).normal(size=(4, 250))
    depth = np.full((4, 250), 5)
    depth[0, :50] = 8
    result = verdict_of(
        posterior()._replace(noise=noise),
        hmc_stats()._replace(tree_depth=depth, max_tree_depth=8),
    )
    assert result["rhat_noise"] == pytest.approx(convergence.rhat(noise[..., None])[0])
    assert result["max_depth_share"] == pytest.approx(0.05)


def test_diagnose_summarises_over_reference_points() -> None:
    draws = posterior()
    draws.function[0, :, 4] += 4.0
    agreement = convergence.rhat(draws.function)
    bulk = convergence.ess_bulk(draws.function)
    result = verdict_of(draws, hmc_stats())
    assert result["rhat_f_median"] == np.sort(agreement)[2]
    assert result["rhat_f"] == agreement.max()
    assert result["rhat_f_share_below_1_01"] == np.mean(agreement < 1.01) <= 0.8
    assert (result["ess_f_bulk_min"], result["ess_f_bulk_median"]) == (bulk[4], np.median(bulk))
    assert result["ess_f_tail_min"] == convergence.ess_tail(draws.function).min()
    assert result["ess_f"] == min(result["ess_f_bulk_min"], result["ess_f_tail_min"])


def test_diagnose_summarises_errors_over_reference_points() -> None:
    """1 / sqrt(ESS) for the mean; relative to the posterior sd, so that scales do not matter."""
    draws = posterior()
    draws.function[:] *= np.arange(1.0, 6.0)
    result = verdict_of(draws, hmc_stats())
    sd = draws.function.std(axis=(0, 1), ddof=1)
    for name, errors in (
        ("mean", convergence.mcse_mean(draws.function)),
        ("q2_5", convergence.mcse_quantile(draws.function, 0.025)),
        ("q97_5", convergence.mcse_quantile(draws.function, 0.975)),
    ):
        assert result[f"mcse_f_{name}_over_sd_max"] == pytest.approx((errors / sd).max())
    assert result["mcse_f_mean_over_sd_max"] == pytest.approx(1 / np.sqrt(1000), rel=0.3)
    classic = convergence.gelman_rubin(draws.function)
    assert result["rhat_f_gelman_rubin_p99"] == pytest.approx(np.percentile(classic, 99))


def test_chains_that_share_starts_are_checked_in_groups() -> None:
    draws = posterior()
    result = verdict_of(draws, hmc_stats(), superchains=2)
    expected = np.percentile(convergence.nested_rhat(draws.function, 2), 99)
    assert result["rhat_f_nested_p99"] == pytest.approx(expected)
    with refused("diagnostics.superchains", superchains=3, chains=4):
        verdict_of(draws, hmc_stats(), superchains=3)


def test_the_point_at_which_draws_diverge_is_named() -> None:
    """Three divergent draws, all 5 sd from the mean of point 3."""
    draws, sampled = posterior(), hmc_stats()
    sampled.diverging[0, 4:7] = True
    draws.function[0, 4:7, 3] = 5.0
    found = verdict_of(draws, sampled)["divergences_at"]
    sd = draws.function[:, :, 3].std()
    expected = (5 - draws.function[:, :, 3].mean()) / sd
    assert found == {"reference_point": 3, "deviation": pytest.approx(expected)}


@pytest.mark.parametrize(("loss", "step"), [(0.0, 5), (0.6, 10), (0.9, 30)])
def test_thinning_gives_up_what_is_allowed(loss: float, step: int) -> None:
    """Independent draws, stored every fifth: the share kept is 5 / step; 8 of 250 remain at 30."""
    draws = posterior()
    draws = draws._replace(weights=draws.weights[:, 4::5])
    assert verdict_of(draws, hmc_stats(), thin=5, thinning_loss=loss)["thinning_step"] == step


def test_too_few_stored_weights_are_not_checked() -> None:
    """250 draws, every 32nd stored: seven."""
    draws = posterior()
    draws = draws._replace(weights=draws.weights[:, 31::32])
    result = verdict_of(draws, hmc_stats(), thin=32)
    assert result["rhat_weights_median"] is None
    assert result["rhat_hyperparameters"] is None


def test_converged_posterior_passes_every_check() -> None:
    result = verdict_of(posterior(stored=1000), hmc_stats(shape=(4, 1000)))
    assert all(check["passed"] for check in result["checks"].values())
    assert result["converged"] is True
    assert result["more_draws"] is None


def everything(stored: int = 1000) -> ChainDraws:
    """Converged draws of each quantity that is checked."""
    rng = np.random.default_rng(5)
    return posterior(stored=stored)._replace(
        noise=np.exp(rng.normal(size=(4, stored))),
        hyperparameters={name: np.exp(rng.normal(size=(4, stored))) for name in "ab"},
    )


@pytest.mark.parametrize("name", ["f", "log_density", "noise", "hyperparameters"])
def test_each_quantity_must_agree(name: str) -> None:
    """One chain of one part of it is shifted by its sd; all others stay as they are."""
    draws = everything()
    array = {
        "f": draws.function[..., 4],
        "log_density": draws.log_density,
        "noise": draws.noise,
        "hyperparameters": (draws.hyperparameters or {})["b"],
    }[name]
    assert array is not None
    array[2] += array.std()
    result = verdict_of(draws, hmc_stats(shape=(4, 1000)))
    assert failed(result) == {f"rhat_{name}", f"ess_{name}"}
    assert result["converged"] is False
    assert result["more_draws"] is None


@pytest.mark.parametrize("name", ["f", "log_density", "noise", "hyperparameters"])
def test_each_quantity_needs_effective_draws_in_its_tails(name: str) -> None:
    """Signs are independent and sizes move slowly: the bulk is as good as independent draws."""
    rng, draws = np.random.default_rng(6), everything(stored=2000)
    size = ar1(0.98, (4, 2000, 1), seed=6)[..., 0]
    slow = np.exp(size) * rng.choice([-1.0, 1.0], size=size.shape)
    assert convergence.ess_bulk(slow[..., None])[0] > 2000
    assert convergence.ess_tail(slow[..., None])[0] < 400
    if name == "f":
        draws.function[..., 1] = slow
    elif name == "hyperparameters":
        draws = draws._replace(hyperparameters={"a": slow})
    else:
        changed: dict[str, Any] = {name: slow}
        draws = draws._replace(**changed)
    found = failed(verdict_of(draws, hmc_stats(shape=(4, 2000))))
    assert f"ess_{name}" in found <= {f"ess_{name}", f"rhat_{name}"}


def failed(result: dict[str, Any]) -> set[str]:
    return {name for name, check in result["checks"].items() if not check["passed"]}


@pytest.mark.parametrize(
    ("broken", "expected"), [("energy", "ebfmi_min"), ("divergence", "divergences")]
)
def test_each_failure_of_the_sampler_fails_its_own_check(broken: str, expected: str) -> None:
    draws, sampled = posterior(stored=1000), hmc_stats(shape=(4, 1000))
    if broken == "energy":
        sampled.energy[1] = 0.1 * np.random.default_rng(11).normal(size=1000).cumsum()
    else:
        sampled.diverging[2, 7] = True
    assert failed(verdict_of(draws, sampled)) == {expected}


def test_short_chains_are_told_from_chains_that_disagree() -> None:
    """Both fail; 50 independent draws a chain need about eight times as many to pass."""
    short = verdict_of(posterior(stored=50), hmc_stats(shape=(4, 50)))
    assert {"ess_f", "rhat_f"} <= failed(short)
    assert 5 < short["more_draws"] < 12
    longer = int(50 * short["more_draws"])
    assert not failed(verdict_of(posterior(stored=longer), hmc_stats(shape=(4, longer))))
    apart = posterior(stored=50)
    apart.function[0] += 1.0
    assert verdict_of(apart, hmc_stats(shape=(4, 50)))["more_draws"] is None


def test_thresholds_are_inclusive_and_recorded() -> None:
    draws, sampled = posterior(), hmc_stats()
    sampled.diverging[0, :3] = True
    values = verdict_of(draws, sampled)
    for name in ("rhat_f", "rhat_log_density", "ess_f", "ess_log_density", "ebfmi_min"):
        value, at_least = values[name], not name.startswith("rhat")
        limit = {"rhat": "rhat_max", "ess": "ess_min"}.get(name.partition("_")[0], name)
        beyond = float(np.nextafter(value, np.inf if at_least else -np.inf))
        for threshold, passed in ((value, True), (beyond, False)):
            one: dict[str, Any] = {limit: threshold}
            changed = THRESHOLDS._replace(**one)
            check = verdict_of(draws, sampled, thresholds=changed)["checks"][name]
            assert check == {"value": value, "threshold": threshold, "passed": passed}
    checks = verdict_of(draws, sampled, thresholds=THRESHOLDS._replace(max_divergences=3))["checks"]
    assert checks["divergences"] == {"value": 3, "threshold": 3, "passed": True}


@pytest.mark.parametrize(("excess", "passed"), [(0.5, True), (1.999, True), (2.001, False)])
def test_an_unadjusted_sampler_is_held_to_the_energy_variance_it_aims_at(
    excess: float, passed: bool
) -> None:
    """Up to twice as much, on the mean of all draws; its energy is no Hamiltonian."""
    shape, aim = (4, 250), 5e-4
    variance = aim * excess * np.tile([0.5, 1.5], 125) * np.ones(shape)
    sampled = hmc_stats()._replace(
        energy=np.full(shape, np.nan), energy_variance=variance, energy_variance_aim=aim
    )
    result = verdict_of(posterior(), sampled, exact=False)
    assert set(result) == CONTRACT
    assert result["energy_variance"] == pytest.approx(aim * excess)
    assert result["ebfmi_min"] is None
    assert "ebfmi_min" not in result["checks"]
    check = result["checks"]["energy_variance"]
    assert (check["threshold"], check["passed"]) == (TOLERATED_EXCESS * aim, passed)


def test_stuck_sampler_yields_a_failed_verdict_in_plain_json() -> None:
    levels = np.array([1.0, 1.1, 1.2, 1.3])
    draws = ChainDraws(
        function=np.ones((4, 20, 3)) * levels[:, None, None],
        log_density=np.ones((4, 20)) * levels[:, None],
        noise=None,
        weights=np.ones((4, 20, 2)),
    )
    result = verdict_of(draws, hmc_stats(shape=(4, 20))._replace(energy=np.ones((4, 20))))
    json.dumps(result, allow_nan=False)
    agreement = {"rhat_f", "rhat_log_density", "ess_f", "ess_log_density"}
    assert failed(result) == {*agreement, "ebfmi_min", "still_chains"}
    assert result["more_draws"] is None
    assert result["still_chains_at"] == [0, 1, 2, 3]
    for name in ("rhat_f_median", "rhat_f", "rhat_f_gelman_rubin_p99"):
        assert result[name] is None
    for name in ("mean", "q2_5", "q97_5"):
        assert result[f"mcse_f_{name}_over_sd_max"] is None
    assert result["between_chain_variance_share"] == pytest.approx(1)
    assert result["thinning_step"] == 2
    values = check_table(result["checks"])["value"].tolist()
    assert values == [
        np.inf,
        np.inf,
        0.0,
        0.0,
        0.0,
        0.0,
        4.0,
    ]


@pytest.mark.parametrize(
    ("still", "first"), [([2], 0), ([0, 3], 0), ([1], 125), ([], 130), ([0, 1, 2, 3], 0)]
)
def test_a_chain_that_stands_still_is_named(still: list[int], first: int) -> None:
    """From its start, or from the middle of its draws; the ESS detects a shorter stay."""
    draws = posterior()
    for chain in still or [1]:
        draws.function[chain, first:] = draws.function[chain, first]
    result = verdict_of(draws, hmc_stats())
    assert result["still_chains_at"] == still
    assert result["checks"]["still_chains"] == {
        "value": len(still),
        "threshold": 0,
        "passed": not still,
    }


@pytest.mark.parametrize(
    ("draws", "sampled"),
    [
        (posterior()._replace(weights=np.zeros((3, 250, 2))), hmc_stats()),
        (posterior()._replace(log_density=np.zeros((4, 249))), hmc_stats()),
        (posterior(), hmc_stats(shape=(4, 249))),
        (posterior(), hmc_stats()._replace(energy_variance=np.zeros((3, 250)))),
    ],
)
def test_diagnose_refuses_arrays_that_do_not_fit(draws: ChainDraws, sampled: SampleStats) -> None:
    with refused("diagnostics.other_posterior", expected=(4, 250)):
        verdict_of(draws, sampled, thin=1)


@pytest.mark.parametrize(("stored", "fits"), [(250, True), (50, True), (125, False)])
def test_hyperparameters_are_given_at_every_draw_or_at_the_stored_ones(
    stored: int, fits: bool
) -> None:
    draws = posterior()
    draws = draws._replace(
        weights=draws.weights[:, 4::5], hyperparameters={"prior_scale": np.zeros((4, stored))}
    )
    if fits:
        assert set(verdict_of(draws, hmc_stats(), thin=5)) == CONTRACT
        return
    with refused("diagnostics.other_posterior", name="prior_scale", shape=(4, 125)):
        verdict_of(draws, hmc_stats(), thin=5)


def test_the_table_of_checks_states_the_side_of_each_limit() -> None:
    draws, sampled = posterior(), hmc_stats()
    sampled.diverging[0, 0] = True
    checks = verdict_of(draws, sampled)["checks"]
    found = check_table(checks)
    assert [*found] == ["check", "value", "threshold", "bound", "passed"]
    assert found["check"].tolist() == [*checks]
    for i, (name, check) in enumerate(checks.items()):
        value, limit = found["value"][i], found["threshold"][i]
        assert (value, limit) == (check["value"], check["threshold"])
        at_least = name in {"ess_f", "ess_log_density", "ebfmi_min"}
        assert found["bound"][i] == ("at least" if at_least else "at most")
        assert found["passed"][i] == (value >= limit if at_least else value <= limit)
    assert not found["passed"][found["check"] == "divergences"][0]


def test_check_convergence_agrees_with_diagnose() -> None:
    """Of the same draws and limits, and only of what more draws can change."""
    draws = everything()
    draws.log_density[0] += 2.0
    whole = verdict_of(draws, hmc_stats(shape=(4, 1000)))["checks"]
    found = check_convergence(draws, **LIMITS)
    others = {"ebfmi_min", "divergences", "still_chains"}
    assert found == {name: check for name, check in whole.items() if name not in others}
    assert {name for name, check in found.items() if not check["passed"]} == {
        "rhat_log_density",
        "ess_log_density",
    }


@pytest.mark.parametrize("everything", [True, False])
def test_copies_of_a_chain_are_refused(everything: bool) -> None:
    """They agree perfectly, so every R-hat would pass them."""
    draws = posterior()
    draws.function[3] = draws.function[1]
    with refused("diagnostics.copied_chain", first=1, second=3):
        verdict_of(draws, hmc_stats()) if everything else check_convergence(draws, **LIMITS)


def test_diagnose_refuses_half_given_trees() -> None:
    with refused("diagnostics.half_given_trees"):
        verdict_of(posterior(), hmc_stats()._replace(max_tree_depth=8))


@pytest.mark.parametrize("apart", [0.0, 1.0])
def test_check_convergence_fails_chains_that_never_moved_in_plain_json(apart: float) -> None:
    """This holds also for chains at the same point, which do not count as copies."""
    stuck = np.ones((4, 20, 3)) * apart * np.arange(4.0)[:, None, None]
    found = check_convergence(ChainDraws(stuck, stuck[..., 0], None, stuck), **LIMITS)
    assert not any(check["passed"] for check in found.values())
    assert found["rhat_f"]["value"] is None
    json.dumps(found, allow_nan=False)


def test_check_convergence_refuses_draws_that_cannot_be_checked() -> None:
    one = np.zeros((1, 50, 2))
    with refused("diagnostics.few_chains", fewest=2, chains=1):
        check_convergence(ChainDraws(one, one[..., 0], None, one), **LIMITS)
