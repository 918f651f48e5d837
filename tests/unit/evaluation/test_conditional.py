"""Calibration along a covariate, distances to the training data, errors beside the physics'."""

import numpy as np
import pytest
from scipy import stats
from scipy.spatial.distance import cdist

from nlobayes.evaluation.calibration.conditional import (
    conditional_table,
    coverage_by_decile,
    distance_to_training,
    equal_count_bins,
    error_over_scale,
    scale_shares,
)
from tests.refusals import refused


def pulls(points: int, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    z = np.random.default_rng(seed).normal(size=points)
    return z, stats.norm.cdf(z)


def test_bins_by_hand() -> None:
    values = np.random.default_rng(2).permutation(60)
    bins = equal_count_bins(values, 10)
    assert [sorted(values[points].tolist()) for points in bins] == [
        list(range(start, start + 20)) for start in (0, 20, 40)
    ]


@pytest.mark.parametrize(("points", "bins"), [(1, 1), (39, 1), (40, 2), (199, 9), (2000, 10)])
def test_bins_have_twenty_points_at_least(points: int, bins: int) -> None:
    found = equal_count_bins(np.arange(points), 10)
    assert len(found) == bins
    assert sorted(np.concatenate(found).tolist()) == list(range(points))


def test_coverage_of_deciles_is_that_of_their_points() -> None:
    """Ten deciles of 30 points: all of the first are inside, none of the last."""
    covariate = np.random.default_rng(5).permutation(300).astype(float)
    pit = np.where(covariate < 30, 0.5, np.where(covariate < 270, 0.9, 0.99))
    found = coverage_by_decile(pit, covariate)
    assert found == {
        "coverage_68_deciles": [1.0, *[0.0] * 9],
        "coverage_95_deciles": [*[1.0] * 9, 0.0],
    }


def test_rows_are_the_statistics_of_their_points() -> None:
    z, pit = pulls(105)
    covariate, distance = np.random.default_rng(3).normal(size=(2, 105))
    table = conditional_table({"covariate": covariate, "distance": distance}, z, pit)
    assert table["by"].tolist() == ["covariate"] * 5 + ["distance"] * 5
    assert table["bin"].tolist() == [0, 1, 2, 3, 4] * 2
    assert table["points"].tolist() == [21] * 10
    for row, values in ((1, covariate), (8, distance)):
        inside = (values >= table["low"][row]) & (values <= table["high"][row])
        assert inside.sum() == 21
        assert table["centre"][row] == np.median(values[inside])
        assert table["sigma_z"][row] == pytest.approx(z[inside].std())
        for name, level in (("coverage_68", 0.68), ("coverage_95", 0.95)):
            hits = int(np.sum(np.abs(2 * pit[inside] - 1) <= level))
            low, high = stats.binomtest(hits, 21).proportion_ci(0.95, "wilson")
            assert table[name][row] == pytest.approx(hits / 21)
            assert table[f"{name}_lower"][row] == pytest.approx(low)
            assert table[f"{name}_upper"][row] == pytest.approx(high)


@pytest.mark.statistical
def test_intervals_hold_the_truth_95_times_of_100() -> None:
    """2000 bins of 200 Gaussian pulls: 95 % within 2.5 %, five standard errors."""
    z, pit = pulls(400_000)
    table = conditional_table({"by": np.arange(400_000.0)}, z, pit, bins=2000)
    for name, truth in (("sigma_z", 1.0), ("coverage_68", 0.68), ("coverage_95", 0.95)):
        holds = (table[f"{name}_lower"] <= truth) & (truth <= table[f"{name}_upper"])
        assert holds.mean() == pytest.approx(0.95, abs=0.025), name


def test_too_small_uncertainties_show_where_they_are() -> None:
    z, _ = pulls(1000)
    covariate = np.linspace(0, 1, 1000)
    z[covariate > 0.8] *= 2
    table = conditional_table({"covariate": covariate}, z, stats.norm.cdf(z))
    assert (table["sigma_z_lower"] > 1.3).tolist() == [False] * 8 + [True] * 2
    assert (table["coverage_68_upper"] < 0.68).tolist() == [False] * 8 + [True] * 2


def test_distances_match_a_full_distance_matrix() -> None:
    rng = np.random.default_rng(4)
    train, other = rng.normal(size=(80, 3)), 2 * rng.normal(size=(30, 3))
    between = np.sort(cdist(train, train), axis=1)[:, 1]
    expected = cdist(other, train).min(axis=1) / np.median(between)
    np.testing.assert_allclose(distance_to_training(other, train), expected)
    np.testing.assert_array_equal(distance_to_training(train, train), 0.0)
    np.testing.assert_allclose(distance_to_training(7 * other, 7 * train), expected)


@pytest.mark.parametrize(
    ("train", "unit"),
    [
        ([0.0, 1.0, 3.0, 6.0], 1.5),  # nearest others at 1, 1, 2, 3
        ([0.0, 0.0, 0.0, 1.0], 0.25),  # median zero: mean of 0, 0, 0, 1
        ([2.0, 2.0, 2.0], 1.0),
        ([2.0], 1.0),
    ],
    ids=["distinct", "duplicates", "all equal", "one"],
)
def test_unit_of_distance_by_hand(train: list[float], unit: float) -> None:
    features = np.array(train)[:, np.newaxis]
    found = distance_to_training(np.array([[train[-1] + 3.0]]), features)
    np.testing.assert_allclose(found, [3.0 / unit])


@pytest.mark.parametrize(
    ("features", "train", "fault"),
    [
        (np.zeros(3), np.zeros((4, 1)), "shapes"),
        (np.zeros((3, 2)), np.zeros((4, 1)), "shapes"),
        (np.full((3, 1), np.nan), np.zeros((4, 1)), "not_finite"),
    ],
)
def test_refuses_unusable_features(features: np.ndarray, train: np.ndarray, fault: str) -> None:
    with refused(f"evaluation.distance_{fault}"):
        distance_to_training(features, train)


def test_errors_over_scale_uncertainty_by_hand() -> None:
    mean, observed = np.array([1.0, 1.0, 1.0, 1.0]), np.array([1.1, 0.8, 1.1, 1.1])
    scale = np.array([0.5, 0.5, np.nan, 0.0])
    found = error_over_scale(mean, observed, scale)
    np.testing.assert_allclose(found, [0.2, 0.4, np.nan, np.nan])
    assert np.isnan(error_over_scale(mean, observed, None)).all()
    shares = scale_shares(mean, np.array([0.1, 0.1, 9.0, 9.0]), observed, scale)
    assert shares == {
        "error_over_scale_p50": pytest.approx(0.3),
        "error_over_scale_share_below_0_3": 0.5,
        "sd_over_scale_share_below_0_3": 1.0,
    }
