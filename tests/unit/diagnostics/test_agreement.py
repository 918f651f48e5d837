"""Two samplers of one posterior: what agrees passes, what differs by its errors' measure fails."""

from math import hypot

import numpy as np
import pytest
from scipy.stats import norm

from nlobayes.diagnostics import estimators as _arviz
from nlobayes.diagnostics.sampler_agreement import FALSE_ALARM, compare, verdict
from tests.chains import ar1
from tests.refusals import refused

QUANTITIES = 20
RHO = 0.6


def sampled(seed: int, quantities: int = QUANTITIES) -> np.ndarray:
    return ar1(RHO, (4, 500, quantities), seed)


@pytest.mark.statistical
def test_samplers_of_one_distribution_agree() -> None:
    """Ten pairs; each is called different with a probability of at most 0.1 %."""
    for seed in range(10):
        result = verdict(compare(sampled(seed), sampled(seed + 100)))
        assert result["passed"] is True, (seed, result)
        assert result["comparisons"] == 2 * QUANTITIES


@pytest.mark.statistical
def test_differences_are_standard_normal_where_samplers_agree() -> None:
    """400 correlated z of mean and sd each: rms within 0.15 of 1 (its error is 0.04)."""
    z_mean, z_sd = compare(sampled(1, 400), sampled(2, 400))
    assert np.sqrt(np.mean(z_mean**2)) == pytest.approx(1, abs=0.15)
    assert np.sqrt(np.mean(z_sd**2)) == pytest.approx(1, abs=0.15)


@pytest.mark.statistical
@pytest.mark.parametrize("seed", range(3))
def test_a_mean_that_is_off_by_six_errors_is_found(seed: int) -> None:
    """Six Monte-Carlo errors of the difference in one of 20 quantities; the limit is near 4.2."""
    first, second = sampled(seed), sampled(seed + 100)
    ahead = np.sign(compare(first, second).z_mean[7]) or 1.0
    errors = [_arviz.mcse_mean(draws[:, :, 7]) for draws in (first, second)]
    second[:, :, 7] -= ahead * 6 * hypot(*errors)
    found = compare(first, second)
    assert np.argmax(np.abs(found.z_mean)) == 7
    result = verdict(found)
    assert result["passed"] is False
    assert result["z_mean_max"] == np.abs(found.z_mean[7])
    assert np.abs(found.z_mean[7]) > 6


@pytest.mark.statistical
@pytest.mark.parametrize("factor", [0.7, 1.4])
def test_a_spread_that_differs_is_found(factor: float) -> None:
    first, second = sampled(1), sampled(2)
    second[:, :, 3] *= factor
    found = compare(first, second)
    assert np.argmax(np.abs(found.z_sd)) == 3
    assert np.sign(found.z_sd[3]) == np.sign(1 - factor)
    assert verdict(found)["passed"] is False


def test_differences_are_divided_by_both_errors() -> None:
    first, second = sampled(3, 1), 2 * sampled(4, 1) + 1
    found = compare(first, second)
    errors = [_arviz.mcse_mean(draws[:, :, 0]) for draws in (first, second)]
    assert found.z_mean[0] == pytest.approx((first.mean() - second.mean()) / hypot(*errors))
    errors = [_arviz.mcse_sd(draws[:, :, 0]) for draws in (first, second)]
    assert found.z_sd[0] == pytest.approx((first.std() - second.std()) / hypot(*errors))


def test_the_order_of_samplers_turns_signs_only() -> None:
    forth, back = compare(sampled(1), sampled(2)), compare(sampled(2), sampled(1))
    np.testing.assert_array_equal(forth.z_mean, -back.z_mean)
    np.testing.assert_array_equal(forth.z_sd, -back.z_sd)


@pytest.mark.parametrize("quantities", [1, 500])
def test_the_limit_counts_every_comparison(quantities: int) -> None:
    """Bonferroni: the probability that any of them exceeds the limit is at most `FALSE_ALARM`."""
    agreement = compare(sampled(1, 1), sampled(2, 1))
    many = type(agreement)(*(np.repeat(z, quantities) for z in agreement))
    limit = verdict(many)["threshold"]
    assert isinstance(limit, float)
    assert 2 * norm.sf(limit) * 2 * quantities == pytest.approx(FALSE_ALARM)


def test_the_limit_itself_passes() -> None:
    agreement = compare(sampled(1, 1), sampled(2, 1))
    limit = verdict(agreement)["threshold"]
    at = agreement._replace(z_mean=np.array([limit]), z_sd=np.array([0.0]))
    assert verdict(at)["passed"] is True
    above = at._replace(z_sd=-np.array([limit]) * (1 + 1e-9))
    assert verdict(above)["passed"] is False


@pytest.mark.parametrize("apart", [0.0, 1.0])
def test_a_quantity_that_never_moved_fails(apart: float) -> None:
    """Nothing is known of its error, whether the values are equal or not."""
    first, second = sampled(1), sampled(2)
    first[:, :, 5] = 2.0
    second[:, :, 5] = 2.0 + apart
    result = verdict(compare(first, second))
    assert result["passed"] is False
    assert result["z_mean_max"] is result["z_sd_max"] is result["z_rms"] is None


def test_chains_that_are_stuck_apart_fail() -> None:
    first = sampled(1)
    first[:, :, 5] = np.arange(4.0)[:, None]
    assert verdict(compare(first, sampled(2)))["passed"] is False


@pytest.mark.parametrize(
    "second",
    [
        sampled(2, QUANTITIES - 1),
        sampled(2, 1),
        sampled(2)[:, :3],
        sampled(2)[:, :, 0],
        np.where(np.arange(QUANTITIES) == 2, np.nan, sampled(2)),
        np.where(np.arange(QUANTITIES) == 2, np.inf, sampled(2)),
    ],
    ids=["fewer", "one", "short", "flat", "nan", "inf"],
)
def test_draws_that_cannot_be_compared_are_refused(second: np.ndarray) -> None:
    for pair in ((sampled(1), second), (second, sampled(1))):
        with refused("diagnostics.agreement_draws"):
            compare(*pair)
