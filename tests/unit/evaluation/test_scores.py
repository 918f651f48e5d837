"""The scores of a split: the keys of the contract, what is undefined and why, and deciles."""

import json
from typing import Any

import numpy as np
import pytest

from nlobayes.evaluation.scores.of_split import by_decile, evaluate
from tests.unit.evaluation.noises import make_noise

MODEL = {
    "sigma_z_epistemic", "sigma_z_total", "sigma_z_total_se", "mean_z_total", "mean_z_total_se",
    "chi2_per_point", "chi2_per_point_se", "coverage_68", "coverage_95", "coverage_99_7", "pit_ks",
    "crps", "lppd", "nll_gaussian", "interval_score_68", "interval_score_90", "interval_score_95",
    "posterior_sd", "noise_sd", "total_sd",
    *(f"coverage_k{k}" for k in range(1, 6)), *(f"coverage_k{k}_epistemic" for k in range(1, 6)),
}  # fmt: skip
TARGET = {
    "r2_target_mean", "r2_target_median", "r2_target_median_low", "r2_target_median_high",
    "rmse_target", "percent_error", "squared_error", "crps_target", "lppd_target",
    "nll_gaussian_target", "interval_score_95_target",
    *(f"relative_error_p{p}" for p in (50, 68, 90, 95, 99)),
    *(f"variance_share_top{k}_target" for k in (1, 5, 10, 20)),
}  # fmt: skip
LOG10 = {
    "r2_log10", "r2_log10_low", "r2_log10_high", "rmse_log10", "squared_error_log10", "bias_log10",
    *(f"variance_share_top{k}_log10" for k in (1, 5, 10, 20)),
}  # fmt: skip
NEEDS_SPREAD = {name for name in TARGET | LOG10 if name.startswith(("r2", "variance_share"))}


def scored(
    draws: np.ndarray, observed: np.ndarray, *, scale: str = "log10", family: str = "gaussian"
) -> dict[str, Any]:
    rng = np.random.default_rng(5)
    return evaluate(draws, observed, make_noise(family, 0.05), rng, scale=scale)


def undefined(result: dict[str, Any]) -> set[str]:
    """The keys without a value, after checking that each has its reason, and all is plain JSON."""
    json.dumps(result, allow_nan=False)
    missing = {name for name, value in result.items() if value is None}
    assert set(result["undefined"]) == missing
    assert all(why and "\n" not in why for why in result["undefined"].values())
    return missing


@pytest.mark.parametrize("samples", [1, 4, 7])
@pytest.mark.parametrize(("scale", "keys"), [("log10", LOG10), ("identity", set())])
def test_evaluate_has_the_keys_of_the_contract(
    split: tuple[np.ndarray, np.ndarray], samples: int, scale: str, keys: set[str]
) -> None:
    draws, observed = split
    result = scored(draws[:samples], observed, scale=scale)
    assert set(result) == MODEL | TARGET | keys | {"undefined"}
    assert undefined(result) == ({"sigma_z_epistemic"} if samples == 1 else set())
    assert {type(value) for name, value in result.items() if name != "undefined"} <= {
        float,
        type(None),
    }


def test_a_student_t_of_log10_leaves_two_target_scores_undefined(
    split: tuple[np.ndarray, np.ndarray],
) -> None:
    log10, identity = (scored(*split, scale=s, family="student_t") for s in ("log10", "identity"))
    assert undefined(log10) == {"crps_target", "nll_gaussian_target"}
    assert all("Student-t" in why for why in log10["undefined"].values())
    assert undefined(identity) == set()


def test_a_constant_split_is_scored_where_it_can_be(split: tuple[np.ndarray, np.ndarray]) -> None:
    result = scored(split[0], np.zeros(60))
    assert undefined(result) == NEEDS_SPREAD
    assert "all 60 are equal" in result["undefined"]["r2_log10"]


def test_draws_without_spread_have_no_epistemic_pulls(split: tuple[np.ndarray, np.ndarray]) -> None:
    result = scored(np.tile(split[1] + 0.03, (7, 1)), split[1])
    assert undefined(result) == {"sigma_z_epistemic"}
    assert result["sigma_z_total"] == pytest.approx(0, abs=1e-12)
    assert result["mean_z_total"] == pytest.approx(-0.6)


def test_a_target_of_zero_has_no_relative_error(split: tuple[np.ndarray, np.ndarray]) -> None:
    draws, observed = split
    observed[3] = 0.0
    result = scored(draws, observed, scale="identity")
    assert undefined(result) == {
        name for name in TARGET if name.startswith(("relative", "percent"))
    }


def test_predictions_too_large_for_target_space_state_it(
    split: tuple[np.ndarray, np.ndarray],
) -> None:
    """A prediction of 10^400 is no number; on the model scale it is as good as any."""
    draws, observed = split
    draws[:, 4] += 400.0
    missing = undefined(scored(draws, observed))
    assert {"r2_target_mean", "squared_error", "crps_target", "percent_error"} <= missing
    assert missing <= TARGET
    assert undefined(scored(draws, observed, scale="identity")) == set()


@pytest.mark.parametrize(("points", "bins"), [(10, 1), (60, 3), (199, 9), (400, 10)])
def test_deciles_have_equally_many_points_of_ascending_covariate(points: int, bins: int) -> None:
    rng = np.random.default_rng(6)
    observed, covariate = rng.normal(size=points), rng.permutation(points).astype(float)
    draws, noise = observed + rng.normal(0, 0.1, (4, points)), make_noise("gaussian", 0.05)
    deciles = by_decile(draws, observed, covariate, noise, rng, scale="identity")
    assert len(deciles) == bins
    assert sum(decile.points for decile in deciles) == points
    assert np.ptp([decile.points for decile in deciles]) <= 1
    for decile in deciles:
        inside = (covariate >= decile.low) & (covariate <= decile.high)
        assert inside.sum() == decile.points
        rmse = np.sqrt(np.mean(np.square(np.median(draws, axis=0) - observed)[inside]))
        assert decile.scores["rmse_target"] == pytest.approx(rmse)
