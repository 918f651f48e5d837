"""PSIS-LOO and WAIC of linear regressions, whose left-out predictive is known in closed form."""

import math
import tracemalloc
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pytest
from arviz_stats.base import array_stats
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from nlobayes.errors import InputError
from nlobayes.evaluation.scores import information as informations
from nlobayes.evaluation.scores.information import elpd_difference, information, summary
from nlobayes.evaluation.tasks.stated import _compare
from tests.refusals import refused

SIGMA = 0.5
CHAINS, DRAWS = 4, 2000


class Regression(NamedTuple):
    """Log likelihood of draws (chain, draw, point), and exact log densities (point).

    `exact`: of a point given the others. `lppd`: given all. `variance`: of its log likelihood.
    """

    log_likelihood: np.ndarray
    exact: np.ndarray
    lppd: np.ndarray
    variance: np.ndarray


def regression(columns: int, *, outlier: float = 0.0, points: int = 60) -> Regression:
    """Known noise, prior N(0, 1) of each coefficient, the first four of them in use.

    The posterior is sampled directly. Of a Gaussian vector y with covariance C, each component
    given the others is N(y - (C⁻¹ y) / diag C⁻¹, 1 / diag C⁻¹). Where a fit is N(m, s²), the
    variance of (y - f)² / 2σ² is (s² (y - m)² + s⁴ / 2) / σ⁴.
    """
    rng = np.random.default_rng(1)
    design, truth = rng.standard_normal((points, 8)), rng.standard_normal(4)
    y = design[:, :4] @ truth + SIGMA * rng.standard_normal(points)
    y[0] += outlier
    x = design[:, :columns]
    precision = np.linalg.inv(SIGMA**2 * np.eye(points) + x @ x.T)
    left_out = stats.norm(y - precision @ y / np.diag(precision), np.diag(precision) ** -0.5)
    covariance = np.linalg.inv(x.T @ x / SIGMA**2 + np.eye(columns))
    mean = covariance @ x.T @ y / SIGMA**2
    draws = rng.multivariate_normal(mean, covariance, size=(CHAINS, DRAWS))
    spread = np.sqrt(np.einsum("ij,jk,ik->i", x, covariance, x))
    return Regression(
        log_likelihood=stats.norm.logpdf(y, draws @ x.T, SIGMA),
        exact=left_out.logpdf(y),
        lppd=stats.norm.logpdf(y, x @ mean, np.hypot(spread, SIGMA)),
        variance=(np.square(spread * (y - x @ mean)) + spread**4 / 2) / SIGMA**4,
    )


@pytest.fixture(scope="module")
def linear() -> Regression:
    return regression(4)


@pytest.mark.statistical
@pytest.mark.parametrize("columns", [2, 4, 8])
def test_loo_of_linear_regression_is_exact(columns: int) -> None:
    """Each point within five Monte-Carlo errors of 8000 unsmoothed draws, sums within 0.1 and 0.2.

    Two columns miss what the target depends on, which makes rows influential.
    """
    case = regression(columns)
    estimates = information(case.log_likelihood)
    ratios = np.exp(-case.log_likelihood.reshape(CHAINS * DRAWS, -1))
    error = ratios.std(axis=0) / ratios.mean(axis=0) / np.sqrt(CHAINS * DRAWS)
    assert (np.abs(estimates.loo - case.exact) < 5 * error + 1e-3).all()
    loo = summary(estimates)["loo"]
    assert loo["elpd"] == pytest.approx(case.exact.sum(), abs=0.1)
    assert loo["se"] == pytest.approx(case.exact.std(ddof=1) * np.sqrt(60), rel=0.01)
    assert loo["p"] == pytest.approx((case.lppd - case.exact).sum(), abs=0.2)
    assert (loo["k_max"] >= loo["k_limit"]) == (loo["k_above_share"] > 0) == (columns == 2)


@pytest.mark.statistical
@pytest.mark.parametrize("columns", [2, 4, 8])
def test_waic_of_linear_regression(columns: int) -> None:
    """Variances of 8000 draws are known to 2 %."""
    case = regression(columns)
    waic = summary(information(case.log_likelihood))["waic"]
    assert waic["p"] == pytest.approx(case.variance.sum(), rel=0.03)
    expected = case.lppd - case.variance
    assert waic["elpd"] == pytest.approx(expected.sum(), abs=0.03 * case.variance.sum())
    assert waic["se"] == pytest.approx(expected.std(ddof=1) * np.sqrt(60), rel=0.01)


def test_waic_by_hand(linear: Regression) -> None:
    estimates = information(linear.log_likelihood)
    draws = linear.log_likelihood.reshape(CHAINS * DRAWS, -1)
    variance = np.mean((draws - draws.mean(axis=0)) ** 2, axis=0)
    lppd = np.log(np.mean(np.exp(draws), axis=0))
    np.testing.assert_allclose(estimates.waic_p, variance, rtol=1e-10)
    np.testing.assert_allclose(estimates.waic, lppd - variance, rtol=1e-10)
    found = summary(estimates)["waic"]
    deviations = lppd - variance - np.mean(lppd - variance)
    assert found["elpd"] == pytest.approx(np.sum(lppd - variance), rel=1e-10)
    assert found["p"] == pytest.approx(variance.sum(), rel=1e-10)
    assert found["se"] == pytest.approx(np.sqrt(60 / 59 * np.sum(deviations**2)), rel=1e-10)


def test_chunks_change_nothing(linear: Regression, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = information(linear.log_likelihood)
    for width in (1, 7):
        monkeypatch.setattr(informations, "_CHUNK_ELEMENTS", width * CHAINS * DRAWS)
        for one, other in zip(whole[:-1], information(linear.log_likelihood)[:-1], strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-10)


@pytest.mark.parametrize("columns", [2, 8])
def test_estimates_are_those_of_arviz(columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Standard errors included, of the sample variance over points."""
    monkeypatch.setattr(informations, "_relative_efficiency", lambda _: 0.3)
    log_likelihood = regression(columns).log_likelihood
    elpd, pareto_k, p = array_stats.loo(log_likelihood, chain_axis=0, draw_axis=1, r_eff=0.3)
    estimates = information(log_likelihood)
    np.testing.assert_allclose(estimates.loo, elpd, rtol=1e-10)
    np.testing.assert_allclose(estimates.pareto_k, pareto_k, rtol=1e-10)
    found, (_, se, of_all, _) = summary(estimates), array_stats.loo_summary(elpd, p)
    assert found["loo"]["p"] == pytest.approx(of_all, rel=1e-8)
    assert found["loo"]["se"] == pytest.approx(se, rel=1e-10)


@pytest.mark.parametrize("stride", [1, 4])
def test_efficiency_of_the_chains_enters(stride: int, linear: Regression) -> None:
    """Chains in which every draw stays for some steps have that much longer tails."""
    log_likelihood = linear.log_likelihood[:, :, :3]
    repeated = np.repeat(log_likelihood, stride, axis=1)
    _, k, _ = array_stats.loo(repeated, chain_axis=0, draw_axis=1, r_eff=1 / stride)
    np.testing.assert_allclose(information(repeated).pareto_k, k, atol=0.02)


def test_an_outlier_is_reported_as_numbers() -> None:
    """Of a wide model of few rows; a printed warning would fail this test."""
    case = regression(8, outlier=12.0, points=15)
    estimates = information(case.log_likelihood)
    found = summary(estimates)
    assert estimates.pareto_k[0] > 0.7
    assert found["loo"]["k_max"] == estimates.pareto_k.max()
    assert found["loo"]["k_above_share"] == np.mean(estimates.pareto_k >= estimates.k_limit) > 0
    assert found["waic"]["p_above_share"] == np.mean(estimates.waic_p > 0.4) > 0


def test_what_no_draw_changes_needs_no_weights() -> None:
    """A point whose likelihood is the same at every draw, beside one where it is not."""
    constant, varying = np.full((2, 50), -1.5), 0.1 * np.random.default_rng(2).normal(size=(2, 50))
    estimates = information(np.stack([constant, varying], axis=2))
    assert estimates.loo[0] == pytest.approx(-1.5, rel=1e-12)
    assert estimates.waic[0] == pytest.approx(-1.5, rel=1e-12)
    assert estimates.loo_p[0] == pytest.approx(0, abs=1e-12)
    assert estimates.pareto_k[0] == -np.inf
    assert np.isfinite(estimates.pareto_k[1])


def test_a_point_of_two_values_is_flagged_and_spoils_no_sum() -> None:
    """Smoothing its tail of one value would give what is not a number."""
    log_likelihood = np.random.default_rng(4).normal(-1, 0.1, (4, 1000, 2))
    log_likelihood[:, :, 0] = -1.0
    log_likelihood[0, :150, 0] = -3.0
    estimates = information(log_likelihood)
    harmonic = 4000 / (150 * math.exp(3) + 3850 * math.exp(1))
    assert estimates.loo[0] == pytest.approx(math.log(harmonic))
    assert estimates.pareto_k[0] == np.inf
    assert summary(estimates)["loo"]["k_above_share"] == 0.5
    assert math.isfinite(summary(estimates)["loo"]["elpd"])


@given(seed=st.integers(0, 1000), shift=st.floats(-300, 300))
def test_order_and_unit_do_not_matter(seed: int, shift: float) -> None:
    """Another unit of the target adds a constant to each log density, and to the elpd."""
    rng = np.random.default_rng(seed)
    log_likelihood = rng.normal(-1, 0.3, (2, 60, 5))
    order = rng.permutation(5)
    plain = information(log_likelihood)
    moved = information(log_likelihood[::-1, :, order] + shift)
    for name, offset in (("loo", shift), ("waic", shift), ("loo_p", 0), ("waic_p", 0)):
        expected = getattr(plain, name)[order] + offset
        np.testing.assert_allclose(getattr(moved, name), expected, atol=1e-8)
    np.testing.assert_allclose(moved.pareto_k, plain.pareto_k[order], atol=1e-6)


def test_difference_by_hand(linear: Regression) -> None:
    """Five differences -1, 0, 0, 2, 4: sum 5, sample variance 4, standard error sqrt(5 · 4)."""
    second = np.array([3.0, -1.0, 7.0, 0.0, 2.0])
    result = elpd_difference(second + np.array([-1, 0, 0, 2, 4]), second)
    assert result.elpd == pytest.approx(5)
    assert result.se == pytest.approx(math.sqrt(5) * 2)
    loo = information(linear.log_likelihood).loo
    assert elpd_difference(loo, loo) == (0, 0)


@pytest.mark.statistical
def test_differences_of_regressions(linear: Regression) -> None:
    """Two columns too few lose by many standard errors; four too many by a few parameters."""
    loo = information(linear.log_likelihood).loo
    for columns, errors in ((2, 4.0), (8, -2.0)):
        other = regression(columns)
        result = elpd_difference(loo, information(other.log_likelihood).loo)
        assert result.elpd == pytest.approx((linear.exact - other.exact).sum(), abs=0.15)
        expected = (linear.exact - other.exact).std() * np.sqrt(60)
        assert result.se == pytest.approx(expected, rel=0.05)
        assert result.elpd > errors * result.se


def test_memory_stays_below_a_few_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    """2000 draws of 2000 points in single precision: 16 MB, of which few are copied at a time.

    LOO takes one point at a time and is left out.
    """
    monkeypatch.setattr(informations, "_left_out", lambda *_: (0.0, 0.0))
    log_likelihood = np.random.default_rng(3).normal(-1, 0.2, (4, 500, 2000)).astype(np.float32)
    tracemalloc.start()
    estimates = information(log_likelihood)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert estimates.loo.shape == (2000,)
    assert peak < 50e6


def test_an_approximation_has_none_and_the_reason() -> None:
    approximate: Any = SimpleNamespace(chains=2, approximate=True)
    found = _compare(np.zeros((8, 3)), approximate)
    reason = {"loo": str(InputError("evaluation.loo_of_approximation"))}
    assert found == {"loo": None, "waic": None, "undefined": reason}


@pytest.mark.parametrize(
    ("log_likelihood", "fault", "fields"),
    [
        (np.zeros((4, 100)), "likelihood_shape", {"shape": (4, 100)}),
        (np.zeros((4, 100, 0)), "likelihood_shape", {"shape": (4, 100, 0)}),
        (np.zeros((4, 6, 3)), "few_draws_for_loo", {"fewest": 25, "chains": 4, "draws": 6}),
        (
            np.zeros((20, 3, 3)),
            "few_draws_for_loo",
            {"fewest_of_chain": 4, "chains": 20, "draws": 3},
        ),
        (np.full((4, 10, 3), -np.inf), "likelihood_not_finite", {"not_finite": 120, "point": 0}),
    ],
)
def test_refuses_what_has_no_loo(
    log_likelihood: np.ndarray, fault: str, fields: dict[str, Any]
) -> None:
    with refused(f"evaluation.{fault}", **fields):
        information(log_likelihood)
