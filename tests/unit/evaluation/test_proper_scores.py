"""Proper scores against closed forms, scipy and hand calculation."""

import numpy as np
import pytest
from scipy import integrate, stats

from nlobayes.evaluation.scores.regression.proper_scores import (
    _crps_of,
    crps_per_point,
    interval_score,
    proper_scores,
)
from tests.unit.evaluation.noises import make_noise

LN10 = np.log(10)


def scored(
    draws: np.ndarray,
    observed: np.ndarray,
    *,
    family: str = "gaussian",
    noise_scale: float = 0.05,
    scale: str = "log10",
    seed: int = 3,
) -> dict[str, float | str]:
    noise = make_noise(family, noise_scale)
    return proper_scores(draws, observed, noise, np.random.default_rng(seed), scale=scale)


def gaussian_crps(z: np.ndarray, sd: float) -> np.ndarray:
    """Closed form of Gneiting and Raftery (2007)."""
    density = 2 * stats.norm.pdf(z) - 1 / np.sqrt(np.pi)
    return sd * (z * (2 * stats.norm.cdf(z) - 1) + density)


@pytest.mark.statistical
@pytest.mark.parametrize("samples", [1, 2000])
def test_crps_matches_the_gaussian_closed_form(samples: int) -> None:
    """Noise 0.1 alone, or spread 0.08 and noise 0.06: both N(0, 0.1). Within 1 %."""
    rng = np.random.default_rng(2)
    draws = np.zeros((1, 500)) if samples == 1 else 0.08 * rng.normal(size=(samples, 500))
    observed = 0.1 * np.linspace(-3, 3, 500)
    result = scored(draws, observed, noise_scale=0.1 if samples == 1 else 0.06)
    assert result["crps"] == pytest.approx(gaussian_crps(observed / 0.1, 0.1).mean(), rel=0.01)


@pytest.mark.statistical
@pytest.mark.parametrize("samples", [1, 300])
def test_crps_of_each_point_is_unbiased(samples: int) -> None:
    """200 or 300 members, 3000 points: the mean within 1.5 %, five standard errors."""
    rng = np.random.default_rng(2)
    draws = np.zeros((1, 3000)) if samples == 1 else 0.08 * rng.normal(size=(samples, 3000))
    observed = 0.1 * np.linspace(-3, 3, 3000)
    noise = make_noise("gaussian", 0.1 if samples == 1 else 0.06)
    found, expected = (
        crps_per_point(draws, observed, noise, rng),
        gaussian_crps(observed / 0.1, 0.1),
    )
    assert found.mean() == pytest.approx(expected.mean(), rel=0.015)
    assert np.corrcoef(found, expected)[0, 1] > 0.99


@pytest.mark.parametrize("members", [2, 5, 40])
def test_crps_of_members_is_that_of_their_pairs(members: int) -> None:
    """Ties and far values included."""
    rng = np.random.default_rng(5)
    found = np.sort(np.round(rng.standard_cauchy((50, members)), 1), axis=1)
    observed = np.round(rng.normal(size=50), 1)
    import scoringrules

    expected = scoringrules.crps_ensemble(observed, found, estimator="fair", backend="numpy")
    np.testing.assert_allclose(_crps_of(observed, found), expected, rtol=1e-11, atol=1e-11)


@pytest.mark.statistical
def test_crps_in_target_space_matches_the_lognormal_closed_form() -> None:
    """One draw and Gaussian noise of log10: 500 points, within 1 %."""
    centre = np.linspace(-1, 1, 500)
    observed = centre + 0.1 * np.random.default_rng(4).normal(size=500)
    result = scored(centre[np.newaxis], observed, noise_scale=0.1)
    import scoringrules

    expected = scoringrules.crps_lognormal(10**observed, LN10 * centre, LN10 * 0.1).mean()
    assert result["crps_target"] == pytest.approx(expected, rel=0.01)


def test_crps_depends_on_the_seed_alone(split: tuple[np.ndarray, np.ndarray]) -> None:
    first, again, other = (scored(*split, family="student_t", seed=seed) for seed in (1, 1, 2))
    assert first == again
    assert first["crps"] != other["crps"]
    assert first["lppd"] == other["lppd"]


@pytest.mark.parametrize(
    ("family", "oracle"),
    [("gaussian", stats.norm(scale=0.05)), ("student_t", stats.t(df=4, scale=0.05))],
)
def test_log_scores_match_scipy(
    split: tuple[np.ndarray, np.ndarray], family: str, oracle: stats.rv_continuous
) -> None:
    draws, observed = split
    scores = scored(draws, observed, family=family)
    lppd = np.log(oracle.pdf(observed - draws).mean(axis=0)).mean()
    total_sd = np.sqrt(draws.var(axis=0) + oracle.var())
    nll = -stats.norm.logpdf(observed, draws.mean(axis=0), total_sd).mean()
    assert scores["lppd"] == pytest.approx(lppd, rel=1e-12)
    assert scores["nll_gaussian"] == pytest.approx(nll, rel=1e-12)


def test_log_scores_in_target_space_are_those_of_the_lognormal_mixture(
    split: tuple[np.ndarray, np.ndarray],
) -> None:
    draws, observed = split
    scores = scored(draws, observed)
    lognormal = stats.lognorm(s=LN10 * 0.05, scale=10**draws)
    target = 10**observed
    lppd = np.log(lognormal.pdf(target).mean(axis=0)).mean()
    assert scores["lppd_target"] == pytest.approx(lppd, rel=1e-10)
    second_moment = (lognormal.var() + lognormal.mean() ** 2).mean(axis=0)
    mean = lognormal.mean().mean(axis=0)
    nll = -stats.norm.logpdf(target, mean, np.sqrt(second_moment - mean**2)).mean()
    assert scores["nll_gaussian_target"] == pytest.approx(nll, rel=1e-9)


def test_density_in_target_space_of_a_student_t_integrates_to_one() -> None:
    """The density over 1e-5 to 1e5 of one point; a factor ln 10 too much or too little fails."""

    def density(target: float) -> float:
        observed = np.log10([target])
        result = scored(np.array([[0.0], [0.2]]), observed, family="student_t")
        return float(np.exp(float(result["lppd_target"])))

    edges = np.geomspace(0.05, 20, 60)
    values = np.array([density(edge) for edge in edges])
    assert integrate.simpson(values * edges, x=np.log(edges)) == pytest.approx(1, abs=0.01)


@pytest.mark.parametrize(
    ("observed", "expected"), [(0.0, 2.0), (1.0, 2.0), (-1.5, 2 + 40 * 0.5), (1.25, 2 + 40 * 0.25)]
)
def test_interval_score_by_hand(observed: float, expected: float) -> None:
    """From -1 to 1 at 95 %: the width, and 2 / 0.05 times the miss."""
    ends = np.array([-1.0]), np.array([1.0])
    score = interval_score(np.array([observed]), *ends, level=0.95)
    np.testing.assert_allclose(score, [expected])


@pytest.mark.parametrize(
    ("family", "oracle"),
    [("gaussian", stats.norm(scale=0.05)), ("student_t", stats.t(df=4, scale=0.05))],
)
def test_interval_scores_of_one_draw_match_scoringrules(
    family: str, oracle: stats.rv_continuous
) -> None:
    observed = np.random.default_rng(5).normal(0, 0.06, 80)
    result = scored(np.zeros((1, 80)), observed, family=family)
    import scoringrules

    for percent in (68, 90, 95):
        lower, upper = oracle.interval(percent / 100)
        expected = scoringrules.interval_score(observed, lower, upper, 1 - percent / 100).mean()
        assert result[f"interval_score_{percent}"] == pytest.approx(expected, rel=1e-5)
    expected = scoringrules.interval_score(10**observed, 10**lower, 10**upper, 0.05).mean()
    assert result["interval_score_95_target"] == pytest.approx(expected, rel=1e-5)


def test_intervals_are_those_of_the_mixture_not_of_its_moments() -> None:
    """Two distant draws: 68 % of the mixture lies within the outer 84 and 16 % points."""
    result = scored(np.array([[-1.0], [1.0]]), np.zeros(1), noise_scale=0.01)
    edge = 1 + 0.01 * stats.norm.ppf(1 - 0.32)
    assert result["interval_score_68"] == pytest.approx(2 * edge, rel=1e-6)


def test_spreads_are_root_mean_squares() -> None:
    draws = np.array([[0.0, 1.0], [0.2, 1.0]])
    result = scored(draws, np.zeros(2), family="student_t", noise_scale=0.1)
    assert result["posterior_sd"] == pytest.approx(0.1 / np.sqrt(2))
    assert result["noise_sd"] == pytest.approx(0.1 * np.sqrt(2))
    assert result["total_sd"] == pytest.approx(np.sqrt(0.01 / 2 + 0.02))
