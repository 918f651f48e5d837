"""Scores of halves: nominal for the right noise, different for another one."""

from typing import Any

import numpy as np
import pytest

from nlobayes.evaluation.predictive.noise_fit import fit_noise, noise_at_points
from nlobayes.evaluation.predictive.noises import NOISES
from nlobayes.evaluation.predictive.predictive_density import predictive_cdf
from nlobayes.evaluation.tasks import halves
from nlobayes.evaluation.tasks.halves import HeldOutRows, choose_family, halved_scores


def held(points: int, seed: int = 1) -> HeldOutRows:
    """Draws exchangeable with the truth, noise whose sd grows tenfold along the feature."""
    rng = np.random.default_rng(seed)
    feature = rng.uniform(0, 1, points)
    scale = 0.01 * 10**feature
    centre = rng.normal(size=points)
    draws = centre + 0.002 * rng.normal(size=(30, points))
    observed = centre + scale * rng.standard_normal(points)
    return HeldOutRows(draws, observed, 100 + 900 * feature, feature[:, np.newaxis])


@pytest.mark.statistical
@pytest.mark.parametrize("family", ["scaled_student_t", "conformal"])
def test_coverage_is_nominal_in_every_decile(family: str) -> None:
    """400 rows per decile: four binomial standard errors are 9 and 4.4 points."""
    found: Any = halved_scores(held(4000), np.random.default_rng(2), family=family)
    assert found["points"] == 4000
    assert found["coverage_68"] == pytest.approx(0.68, abs=0.03)
    assert found["coverage_95"] == pytest.approx(0.95, abs=0.014)
    np.testing.assert_allclose(found["deciles"]["coverage_68"], 0.68, atol=0.09)
    np.testing.assert_allclose(found["deciles"]["coverage_95"], 0.95, atol=0.044)


def test_one_scale_is_seen_to_fail_along_the_covariate() -> None:
    found: Any = halved_scores(held(2000), np.random.default_rng(2), family="gaussian")
    shares = found["deciles"]["coverage_68"]
    assert shares[0] > 0.95
    assert shares[-1] < 0.55
    low, high = found["deciles"]["low"], found["deciles"]["high"]
    assert np.all(np.array(low[1:]) >= high[:-1])


@pytest.mark.parametrize("family", NOISES)
def test_means_are_over_all_points(family: str) -> None:
    """Deciles of equal counts have the mean of all; scores of a Gaussian are known."""
    found: Any = halved_scores(held(200), np.random.default_rng(3), family=family)
    assert set(found) == {"family", "halvings", "points", *halves.SCORES, "deciles"}
    for name in halves.SCORES:
        assert np.mean(found["deciles"][name]) == pytest.approx(found[name], rel=1e-9)
    assert 0.005 < found["crps"] < 0.06
    assert 0.5 < found["lppd"] < 3


def test_the_generator_makes_scores_reproducible() -> None:
    one, same, other = (
        halved_scores(held(200), np.random.default_rng(seed), family="conformal")
        for seed in (1, 1, 2)
    )
    assert one == same
    assert one["lppd"] != other["lppd"]


def test_noise_about_the_mean_uses_all_draws() -> None:
    """Two draws of equal mean and sd replace all draws without a change of the scores."""
    few = held(200)
    many = few._replace(draws=np.repeat(few.draws, 20, axis=0))
    one, other = (
        halved_scores(each, np.random.default_rng(1), family="scaled_student_t")
        for each in (few, many)
    )
    assert one["lppd"] == pytest.approx(other["lppd"], rel=1e-9)


def test_too_few_points_have_no_halves() -> None:
    """39 for any family, 79 for conformal intervals, which need 40 in each half."""
    for points, family in ((39, "gaussian"), (79, "conformal")):
        found: Any = halved_scores(held(points), np.random.default_rng(1), family=family)
        assert found["halvings"] == 0
        assert found["coverage_68"] is None
        fewest = f"halves need {points + 1} held-out rows or more, there are {points}"
        assert found["undefined"] == fewest


def test_the_chosen_family_has_the_highest_log_score() -> None:
    """For noise that grows tenfold along a feature, varying scales have a much higher score."""
    found: Any = choose_family(held(400), [1])
    assert found["family"] == "conformal"
    assert found["candidates"]["conformal"] > found["candidates"]["gaussian"] + 0.1
    alone = halved_scores(held(400), np.random.default_rng([1]), family="conformal")
    assert {name: found[name] for name in alone} == alone


def test_halves_do_not_depend_on_the_family(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each family is fitted to the same rows: noise of the CRPS is drawn after all halvings."""
    seen: dict[str, list[bytes]] = {}

    def noting(draws: np.ndarray, observed: np.ndarray, *, family: str, **given: Any) -> Any:
        seen.setdefault(family, []).append(observed.tobytes())
        return fit_noise(draws, observed, family=family, **given)

    monkeypatch.setattr(halves, "fit_noise", noting)
    points = held(120)
    for family in halves.CANDIDATES:
        halved_scores(points, np.random.default_rng(1), family=family)
    first, *others = seen.values()
    assert len(set(first)) == 2 * halves.HALVINGS
    assert all(other == first for other in others)


def test_noise_alike_everywhere_has_one_scale() -> None:
    """120 rows of noise 0.1: what else there is follows chance, and the exact score is known."""
    points = held(120)
    noise = 0.1 * np.random.default_rng(5).normal(size=120)
    found: Any = choose_family(points._replace(observed=points.draws.mean(axis=0) + noise), [1])
    assert found["family"] in ("gaussian", "fitted_student_t")
    entropy = -np.log(0.1 * np.sqrt(2 * np.pi * np.e))
    assert found["lppd"] == pytest.approx(entropy, abs=0.2)


@pytest.mark.parametrize(("changes", "family"), [(False, "gaussian"), (True, "scaled_gaussian")])
def test_too_few_rows_take_the_family_of_one_number_or_two(changes: bool, family: str) -> None:
    found: Any = choose_family(held(39), [1], changes=changes)
    assert found["family"] == family
    assert "candidates" not in found
    assert "39" in found["undefined"]


def test_few_rows_known_nearly_exactly_take_a_scale_of_each_point() -> None:
    """As of a function without noise: errors follow the spread of the draws over four decades.

    The noise is chosen and fitted on 60 rows, and its coverage is that of 1000 new points.
    """
    rng = np.random.default_rng(7)
    sd = 10 ** rng.uniform(-6, -2, 1060)
    draws = 1 + sd * rng.standard_normal((200, 1060))
    observed = 1 + sd * rng.standard_normal(1060)
    feature = rng.uniform(0, 1, 1060)
    points = HeldOutRows(draws[:, :60], observed[:60], feature[:60], feature[:60, np.newaxis])
    chosen: Any = choose_family(points, [1])
    assert chosen["family"] == "scaled_student_t"
    noise = fit_noise(points.draws, points.observed, family=chosen["family"])
    new = draws[:, 60:]
    central = np.abs(2 * predictive_cdf(new, observed[60:], noise_at_points(noise, new)) - 1)
    assert np.mean(central < 0.6827) == pytest.approx(0.68, abs=0.1)
    assert chosen["lppd"] > chosen["candidates"]["gaussian"] + 1


@pytest.mark.parametrize("points", [60, 120])
def test_neither_unit_nor_origin_of_the_target_matters(points: int) -> None:
    """Neither a cross section of 1e-12 of its unit nor one far from zero is reproduced exactly."""
    given = held(points)
    small = given._replace(draws=1e-12 * given.draws, observed=1e-12 * given.observed)
    one, other = (choose_family(each, [1]) for each in (given, small))
    assert one["family"] == other["family"]
    assert other["coverage_68"] == pytest.approx(one["coverage_68"], abs=0.01)
    assert other["lppd"] - np.log(1e12) == pytest.approx(one["lppd"], abs=1e-3)
    far = given._replace(draws=1e11 + given.draws, observed=1e11 + given.observed)
    assert choose_family(far, [1])["lppd"] == pytest.approx(one["lppd"], abs=0.1)


@pytest.mark.parametrize("changes", [False, True])
def test_noise_along_the_prediction_competes_where_the_spread_changes(changes: bool) -> None:
    """On 120 rows whose log sd is linear in the prediction, two numbers predict best."""
    rng = np.random.default_rng(4)
    points = held(120)
    mean = points.draws.mean(axis=0)
    observed = mean + 0.05 * np.exp(mean) * rng.normal(size=120)
    found: Any = choose_family(points._replace(observed=observed), [1], changes=changes)
    assert ("scaled_gaussian" in found["candidates"]) == changes
    assert (found["family"] == "scaled_gaussian") == changes
