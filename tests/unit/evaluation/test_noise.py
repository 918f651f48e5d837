"""The noise against scipy's distributions, the mixture by hand, the fit against known scales."""

from typing import Any

import numpy as np
import pytest
from scipy import stats
from scipy.optimize import brentq

from nlobayes.distributions.distribution import point_chunks
from nlobayes.distributions.laws import LAWS
from nlobayes.evaluation.predictive.fitted import FittedNoise
from nlobayes.evaluation.predictive.noise_fit import fit_noise, noise_at_points, standard_law
from nlobayes.evaluation.predictive.noises import NOISES
from nlobayes.evaluation.predictive.predictive_density import (
    log_predictive_density,
    predictive_cdf,
    predictive_moments,
    predictive_quantiles,
    select_rows,
)
from tests.refusals import refused
from tests.unit.evaluation.noises import make_noise

SCALE = 0.03
FIFTHS = [-0.6, -0.2, 0.2, 0.6]
ORACLES = {"gaussian": stats.norm(scale=SCALE), "student_t": stats.t(df=4, scale=SCALE)}


def oracle_noise(family: str, rng: np.random.Generator, size: int) -> np.ndarray:
    return ORACLES[family].rvs(size=size, random_state=rng)


@pytest.mark.parametrize("family", ORACLES)
def test_mixture_equals_average_over_draws(family: str) -> None:
    """Also across chunks: 1100 x 1000 values are more than one chunk."""
    rng = np.random.default_rng(2)
    draws, observed = rng.normal(0, 0.05, (1100, 1000)), rng.normal(0, 0.05, 1000)
    noise, oracle = make_noise(family, SCALE), ORACLES[family]
    assert len(list(point_chunks(*draws.shape))) > 1
    np.testing.assert_allclose(
        log_predictive_density(draws, observed, noise),
        np.log(oracle.pdf(observed - draws).mean(axis=0)),
        rtol=1e-10,
    )
    np.testing.assert_allclose(
        predictive_cdf(draws, observed, noise),
        oracle.cdf(observed - draws).mean(axis=0),
        rtol=1e-9,
    )


@pytest.mark.parametrize("family", ORACLES)
@pytest.mark.parametrize("spread", [0.0, 0.01, 1.0])
def test_quantiles_invert_the_mixture(family: str, spread: float) -> None:
    """To 1e-6 of the scale, beside a scalar root search; two modes where draws spread widely."""
    rng = np.random.default_rng(7)
    draws = rng.normal(size=40) + spread * rng.choice([-1.0, 1.0], (30, 40))
    probabilities = [0.025, 0.5, 0.84]
    quantiles = predictive_quantiles(draws, make_noise(family, SCALE), probabilities)
    assert quantiles.shape == (3, 40)
    for row, probability in zip(quantiles, probabilities, strict=True):
        for column, value in zip(draws.T, row, strict=True):
            expected = brentq(
                lambda x, c=column, p=probability: ORACLES[family].cdf(x - c).mean() - p,
                column.min() - 1,
                column.max() + 1,
                xtol=1e-12,
            )
            assert value == pytest.approx(expected, rel=0, abs=1e-6 * SCALE)


def test_quantiles_do_not_depend_on_chunks() -> None:
    draws = np.random.default_rng(8).normal(size=(700, 600))
    noise = make_noise("gaussian", SCALE)
    assert len(list(point_chunks(*draws.shape))) > 1
    whole = predictive_quantiles(draws, noise, [0.1])
    alone = predictive_quantiles(draws[:, 550:551], noise, [0.1])
    np.testing.assert_allclose(whole[:, 550:551], alone, rtol=0, atol=1e-6 * SCALE)


def test_density_far_from_all_draws_stays_finite() -> None:
    noise = make_noise("gaussian", 1e-3)
    density = log_predictive_density(np.zeros((2, 1)), np.array([1.0]), noise)
    np.testing.assert_allclose(density, stats.norm.logpdf(1.0, scale=1e-3), rtol=1e-12)


@pytest.mark.parametrize("family", ORACLES)
def test_moments_are_those_of_the_mixture(family: str) -> None:
    draws = np.array([[0.0, 1.0], [0.2, 1.0]])
    moments = predictive_moments(draws, make_noise(family, SCALE))
    np.testing.assert_allclose(moments.mean, [0.1, 1.0])
    np.testing.assert_allclose(moments.posterior_sd, [0.1, 0.0], atol=1e-15)
    np.testing.assert_allclose(
        moments.total_sd, np.sqrt(np.array([0.01, 0.0]) + ORACLES[family].var())
    )


def test_gaussian_fit_of_one_draw_is_the_rms_residual() -> None:
    residual = np.random.default_rng(3).normal(0, 0.2, 500)
    fitted = fit_noise(np.zeros((1, 500)), residual, family="gaussian")
    assert fitted.scale == pytest.approx(np.sqrt(np.mean(residual**2)), rel=3e-4)


def test_student_t_fit_of_one_draw_is_scipys_maximum_likelihood() -> None:
    residual = oracle_noise("student_t", np.random.default_rng(4), 500)
    fitted = fit_noise(np.zeros((1, 500)), residual, family="student_t")
    _, _, expected = stats.t.fit(residual, fdf=4, floc=0)
    assert fitted[:3] == ("student_t", pytest.approx(expected, rel=1e-3), 4.0)


@pytest.mark.statistical
@pytest.mark.parametrize("family", ORACLES)
@pytest.mark.parametrize("posterior_sd", [0.0, 0.02])
def test_fit_recovers_the_true_scale(family: str, posterior_sd: float) -> None:
    """4000 points, 200 draws exchangeable with the truth: within 6 %, over four standard errors."""
    rng = np.random.default_rng(5)
    centre = rng.normal(size=4000)
    draws = centre + posterior_sd * rng.normal(size=(200, 4000))
    truth = centre + posterior_sd * rng.normal(size=4000)
    observed = truth + oracle_noise(family, rng, 4000)
    fitted = fit_noise(draws.astype(np.float32), observed, family=family)
    assert fitted.family == family
    assert fitted.scale == pytest.approx(SCALE, rel=0.06)


@pytest.mark.parametrize("family", NOISES)
def test_fit_scales_with_the_data(family: str) -> None:
    rng = np.random.default_rng(6)
    draws, observed = 0.1 * rng.normal(size=(20, 100)), 0.3 * rng.normal(size=100)
    small = fit_noise(draws, observed, family=family).scale
    large = fit_noise(1000 * draws, 1000 * observed, family=family).scale
    assert large == pytest.approx(1000 * small, rel=1e-3)


def profile(x: np.ndarray) -> np.ndarray:
    return 0.8 * np.abs(x) - 0.4


def scaled_problem(points: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Draws whose sd varies tenfold, features, what is observed about the mean, true scales."""
    rng = np.random.default_rng(9)
    spread = 10 ** rng.uniform(-2, -1, points)
    draws = rng.normal(size=points) + spread * rng.normal(size=(40, points))
    features, sds = rng.uniform(-1, 1, (points, 2)), draws.std(axis=0)
    scales = SCALE * (sds / np.median(sds)) ** 1.2 * np.exp(profile(features[:, 0]))
    return draws, features, draws.mean(axis=0) + scales * rng.standard_t(3, points), scales


@pytest.mark.statistical
def test_scaled_fit_recovers_scales_exponent_and_degrees_of_freedom() -> None:
    """20 000 points: over four standard errors of each, of 0.015 and 0.08; scales of 2 to 3 %."""
    draws, features, observed, scales = scaled_problem(20_000)
    fitted = fit_noise(draws, observed, family="scaled_student_t", features=features)
    assert fitted.exponent == pytest.approx(1.2, abs=0.06)
    assert fitted.degrees_of_freedom == pytest.approx(3, abs=0.4)
    found = np.log(noise_at_points(fitted, draws, features).law.scale / scales)
    assert np.sqrt(np.mean(found**2)) < 0.06


@pytest.mark.statistical
def test_scaled_fit_covers_along_a_feature_that_spread_does_not_show() -> None:
    """Fitted on one half and tested on the other: 2000 points per fifth, three standard errors."""
    draws, features, observed, _ = scaled_problem(20_000)
    half = slice(0, 10_000), slice(10_000, None)
    known = fit_noise(
        draws[:, half[0]], observed[half[0]], family="scaled_student_t", features=features[half[0]]
    )
    noise = noise_at_points(known, draws[:, half[1]], features[half[1]])
    pit = predictive_cdf(draws[:, half[1]], observed[half[1]], noise)
    inside, fifth = np.abs(pit - 0.5) < 0.34, np.digitize(features[half[1]][:, 0], FIFTHS)
    for index in range(5):
        assert inside[fifth == index].mean() == pytest.approx(0.68, abs=0.032)


def test_scaled_predictive_is_a_student_t_about_the_mean() -> None:
    draws, features, observed, _ = scaled_problem(300)
    sds = draws.std(axis=0)
    reference = float(np.median(sds))
    knots, lines = ((-1.0, 0.0, 1.0), (0.0,)), ((0.4, -0.4, 0.4), (0.0,))
    ranges = ((sds.min(), sds.max()), (0.0, np.inf))
    fitted = FittedNoise("scaled_student_t", SCALE, 3.0, 1.2, reference, knots, lines, *ranges)
    noise = noise_at_points(fitted, draws, features)
    scales = SCALE * (sds / reference) ** 1.2 * np.exp(profile(features[:, 0]))
    mean, oracle = draws.mean(axis=0), stats.t(df=3, loc=draws.mean(axis=0), scale=scales)
    np.testing.assert_allclose(noise.law.scale, scales, rtol=1e-12)
    np.testing.assert_allclose(
        log_predictive_density(draws, observed, noise), oracle.logpdf(observed), atol=0.0203
    )
    np.testing.assert_allclose(
        predictive_cdf(draws, observed, noise), oracle.cdf(observed), atol=5.1e-4
    )
    quantiles = predictive_quantiles(draws, noise, [0.16, 0.5])
    np.testing.assert_allclose(quantiles, [oracle.ppf(0.16), mean], rtol=1e-9, atol=1e-12)
    moments = predictive_moments(draws, noise)
    np.testing.assert_allclose(moments.posterior_sd, sds)
    ended = standard_law(fitted).sd()
    assert ended < np.sqrt(3)
    np.testing.assert_allclose(moments.total_sd, scales * ended, rtol=1e-12)


def test_scale_stays_within_what_the_rows_showed() -> None:
    """Whatever sd and features: no scale is above or below those of the rows fitted to."""
    draws, features, observed, _ = scaled_problem(2000)
    fitted = fit_noise(draws, observed, family="scaled_student_t", features=features)
    shown = np.asarray(noise_at_points(fitted, draws, features).law.scale)
    assert fitted.scale_range == (pytest.approx(shown.min()), pytest.approx(shown.max()))
    for factor in (0.01, 10.0, 1e6):
        wide = draws.mean(axis=0) + factor * (draws - draws.mean(axis=0))
        scales = np.asarray(noise_at_points(fitted, wide, 5 * features).law.scale)
        assert scales.min() >= shown.min() * (1 - 1e-12)
        assert scales.max() <= shown.max() * (1 + 1e-12)


@pytest.mark.parametrize(
    ("power", "found"), [(-0.6, (0.0, 0.1)), (1.0, (0.9, 1.1)), (2.5, (1.2, 1.2))]
)
def test_exponent_stays_near_proportion(power: float, found: tuple[float, float]) -> None:
    """A posterior predicts errors in proportion to the sd of the draws."""
    rng = np.random.default_rng(12)
    spread = 10 ** rng.uniform(-2, -1, 500)
    draws = np.stack([-spread, spread])
    observed = SCALE * (spread / 0.03) ** power * rng.normal(size=500)
    exponent = fit_noise(draws, observed, family="scaled_student_t").exponent
    assert found[0] - 1e-9 <= exponent <= found[1] + 1e-9


def test_scaled_fit_of_one_draw_has_one_scale() -> None:
    """A baseline without spread: what is left is a Student-t with fitted degrees of freedom."""
    residual = stats.t(df=5, scale=SCALE).rvs(size=2000, random_state=np.random.default_rng(4))
    fitted = fit_noise(np.zeros((1, 2000)), residual, family="scaled_student_t")
    degrees, _, scale = stats.t.fit(residual, floc=0)
    assert (fitted.exponent, fitted.reference_sd) == (0.0, 1.0)
    assert fitted.scale == pytest.approx(scale, rel=0.01)
    assert fitted.degrees_of_freedom == pytest.approx(degrees, rel=0.05)


@pytest.mark.parametrize("rising", [0.8, 0.0, -0.5])
def test_noise_along_the_prediction_is_found(rising: float) -> None:
    """2000 points: scale and slope within four of their standard errors, 1 / sqrt(2 n) each."""
    rng = np.random.default_rng(6)
    mean, spread = rng.normal(3.0, 1.0, 2000), 0.02 * rng.normal(size=(50, 2000))
    sd = 0.1 * np.exp(rising * (mean - 3.0))
    draws = mean + spread
    observed = mean + 0.02 * rng.normal(size=2000) + sd * rng.normal(size=2000)
    fitted = fit_noise(draws, observed, family="scaled_gaussian")
    error = 4 / np.sqrt(2 * 2000)
    assert fitted.slope == pytest.approx(rising, abs=error)
    scale = np.asarray(noise_at_points(fitted, draws).law.scale)
    np.testing.assert_allclose(np.log(scale / sd).mean(), 0, atol=error)
    beyond = np.asarray(noise_at_points(fitted, draws + 100).law.scale)
    assert fitted.scale_range[0] * (1 - 1e-12) <= beyond.min()
    assert beyond.max() <= fitted.scale_range[1] * (1 + 1e-12)
    moments = predictive_moments(draws, noise_at_points(fitted, draws))
    np.testing.assert_allclose(moments.total_sd, np.hypot(draws.std(axis=0), scale), rtol=1e-12)


@pytest.mark.statistical
@pytest.mark.parametrize(
    ("degrees", "allowed"), [(3.0, (2.5, 3.0, 4.0)), (20.0, (8.0, 12.0, 20.0))]
)
def test_degrees_of_freedom_about_the_draws_are_found(
    degrees: float, allowed: tuple[float, ...]
) -> None:
    """4000 points: within a step of the ladder, the scale within four standard errors."""
    rng = np.random.default_rng(11)
    centre = rng.normal(size=4000)
    draws = centre + 0.01 * rng.normal(size=(50, 4000))
    truth = centre + 0.01 * rng.normal(size=4000)
    observed = truth + SCALE * rng.standard_t(degrees, 4000)
    fitted = fit_noise(draws, observed, family="fitted_student_t")
    assert fitted.degrees_of_freedom in allowed
    assert fitted.scale == pytest.approx(SCALE, rel=0.12)
    noise = noise_at_points(fitted, draws)
    law: Any = noise.law
    assert law[:2] == (fitted.scale, fitted.degrees_of_freedom)
    assert not noise.about_mean


def test_fitted_degrees_of_freedom_are_the_best_of_the_ladder() -> None:
    residual = stats.t(df=5, scale=SCALE).rvs(size=600, random_state=np.random.default_rng(4))
    fitted = fit_noise(np.zeros((1, 600)), residual, family="fitted_student_t")

    def density(degrees: float) -> float:
        _, _, scale = stats.t.fit(residual, fdf=degrees, floc=0)
        return float(stats.t.logpdf(residual, degrees, scale=scale).sum())

    assert fitted.degrees_of_freedom == max((2.5, 3, 4, 5, 6, 8, 12, 20), key=density)


def bimodal_problem(points: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Residuals near +-1 scales on one side of the first feature, heavy-tailed on the other."""
    rng = np.random.default_rng(12)
    features = rng.uniform(-1, 1, (points, 2))
    heavy, two = rng.standard_t(2.2, points), rng.choice([-1, 1], points)
    residual = SCALE * np.where(features[:, 0] > 0, heavy, two + 0.2 * rng.normal(size=points))
    draws = np.zeros(points) + 0.01 * rng.normal(size=(20, points))
    return draws, features, draws.mean(axis=0) + residual, 100 + np.exp(3 * features[:, 0])


def covered(family: str, level: float) -> np.ndarray:
    """Coverage per fifth of the covariate of rows that the noise was not fitted to."""
    draws, features, observed, covariate = bimodal_problem(12_000)
    seen, held = slice(0, 4000), slice(4000, None)
    fitted = fit_noise(
        *(draws[:, seen], observed[seen]),
        family=family,
        features=features[seen],
        covariate=covariate[seen],
    )
    noise = noise_at_points(fitted, draws[:, held], features[held])
    pit = predictive_cdf(draws[:, held], observed[held], noise)
    fifth = np.digitize(features[held][:, 0], FIFTHS)
    inside = np.abs(2 * pit - 1) < level
    return np.array([inside[fifth == index].mean() for index in range(5)])


@pytest.mark.statistical
def test_conformal_intervals_cover_where_no_student_t_does() -> None:
    """1600 rows per fifth, 400 or more of each bin: three standard errors, 6 and 2.8 points."""
    np.testing.assert_allclose(covered("conformal", 0.68), 0.68, atol=0.06)
    np.testing.assert_allclose(covered("conformal", 0.95), 0.95, atol=0.028)
    assert covered("scaled_student_t", 0.95)[0] > 0.99


def test_conformal_bins_lie_along_the_feature_that_follows_the_covariate() -> None:
    draws, features, observed, covariate = bimodal_problem(600)
    for column in (0, 1):
        order = [column, 1 - column]
        fitted = fit_noise(
            *(draws, observed),
            family="conformal",
            features=features[:, np.argsort(order)],
            covariate=covariate,
        )
        assert fitted.column == column
        assert len(fitted.edges) == len(fitted.tails) - 1 == 5
    alone = fit_noise(draws, observed, family="conformal", features=features)
    assert (alone.edges, len(alone.tails)) == ((), 1)


def test_conformal_noise_differs_from_scaled_in_its_tails_alone() -> None:
    draws, features, observed, covariate = bimodal_problem(600)
    known = {"features": features, "covariate": covariate}
    scaled = fit_noise(draws, observed, family="scaled_student_t", **known)
    fitted = fit_noise(draws, observed, family="conformal", **known)
    assert fitted[1:7] == scaled[1:7]
    law: Any = noise_at_points(fitted, draws, features).law
    np.testing.assert_array_equal(law.scale, noise_at_points(scaled, draws, features).law.scale)
    assert law.tails.shape == (600, 4)


@pytest.mark.parametrize("family", ["scaled_student_t", "conformal"])
def test_noise_at_rows_is_that_of_the_rows(family: str) -> None:
    draws, features, observed, _ = scaled_problem(300)
    fitted = fit_noise(draws, observed, family=family, features=features, covariate=features[:, 1])
    whole, rows = noise_at_points(fitted, draws, features), np.array([3, 250, 7])
    part = noise_at_points(fitted, draws[:, rows], features[rows])
    for chosen, known in zip(select_rows(whole, rows).law, part.law, strict=True):  # type: ignore[call-overload]
        np.testing.assert_allclose(chosen, known, rtol=1e-12)
    single = make_noise("gaussian", SCALE)
    assert select_rows(single, rows) == single


def test_fit_refuses_exact_predictions() -> None:
    observed = np.linspace(0, 1, 5)
    with refused("evaluation.exact_predictions", points=5):
        fit_noise(np.tile(observed, (3, 1)), observed, family="gaussian")


@pytest.mark.parametrize(
    ("law", "scale", "degrees", "fault"),
    [
        ("gaussian", 0.0, 4.0, "scale"),
        ("gaussian", np.nan, 4.0, "scale"),
        ("laplace", np.array([1.0, -1.0]), 4.0, "scale"),
        ("student_t", np.inf, 4.0, "scale"),
        ("student_t", 0.1, 2.0, "degrees_of_freedom"),
        ("student_t", 0.1, None, "degrees_of_freedom"),
    ],
)
def test_refuses_unusable_noise(law: str, scale: Any, degrees: Any, fault: str) -> None:
    with refused(f"distributions.{fault}"):
        LAWS[law].build(scale=scale, degrees_of_freedom=degrees).check()


@pytest.mark.parametrize(
    ("draws", "observed", "fault", "fields"),
    [
        (np.zeros((3, 4)), np.zeros(3), "shapes", {"observed": (3,)}),
        (np.zeros(4), np.zeros(4), "shapes", {"draws": (4,)}),
        (np.zeros((0, 4)), np.zeros(4), "shapes", {"draws": (0, 4)}),
        (np.full((3, 4), np.inf), np.zeros(4), "not_finite", {"array": "draws"}),
        (np.zeros((3, 4)), np.full(4, np.nan), "not_finite", {"array": "observed"}),
    ],
)
def test_refuses_unusable_arrays(
    draws: np.ndarray, observed: np.ndarray, fault: str, fields: dict[str, Any]
) -> None:
    with refused(f"evaluation.prediction_{fault}", **fields):
        fit_noise(draws, observed, family="gaussian")
