"""Principal components equal those of scikit-learn and of the covariance, from train rows alone."""

import numpy as np
import pytest
from sklearn.decomposition import PCA

from nlobayes.data.features import principal_components
from nlobayes.data.transforms import apply_features, fit_features
from tests.refusals import refused

TRAIN = np.arange(90) < 60


def rows_of(features: int = 7, seed: int = 1) -> np.ndarray:
    """Draw correlated rows (90, feature) of nonzero mean, one column constant as empty pixels."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(90, features)) @ rng.normal(size=(features, features)) + 5
    rows[:, 2] = 3.0
    return rows


@pytest.mark.parametrize("standardise", [False, True])
def test_components_are_those_of_scikit_learn(standardise: bool) -> None:
    """Up to the sign of each; its whitening divides by n - 1, ours by n as everywhere."""
    rows = rows_of()
    ours = fit_features("raw", rows, TRAIN, standardise=standardise, components=4)
    theirs = PCA(4, svd_solver="full").fit(rows[TRAIN])
    expected = theirs.transform(rows)
    if standardise:
        expected /= np.sqrt(theirs.explained_variance_ * 59 / 60)
    found = apply_features(ours, rows)
    signs = np.sign(np.sum(found * expected, axis=0))
    np.testing.assert_allclose(found, signs * expected, rtol=1e-10, atol=1e-12)
    assert ours.explained is not None
    np.testing.assert_allclose(ours.explained, theirs.explained_variance_ratio_, rtol=1e-12)


def test_all_directions_explain_all_and_turn_the_covariance_diagonal() -> None:
    rows = rows_of()
    found = principal_components(rows, 6)
    assert found.explained.sum() == pytest.approx(1, rel=1e-12)
    turned = found.directions @ np.cov(rows.T, bias=True) @ found.directions.T
    np.testing.assert_allclose(turned, np.diag(found.sd**2), atol=1e-12 * found.sd[0] ** 2)


def test_each_sign_makes_the_largest_entry_positive() -> None:
    directions = principal_components(rows_of(), 6).directions
    assert np.all(directions[np.arange(6), np.abs(directions).argmax(axis=1)] > 0)
    mirrored = principal_components(-rows_of(), 6).directions
    np.testing.assert_allclose(mirrored, directions, rtol=1e-12, atol=1e-14)


def test_rows_that_are_not_trained_on_leave_no_trace() -> None:
    rows = rows_of()
    others = np.where(TRAIN[:, np.newaxis], rows, 100 * rows**2)
    before, after = (
        fit_features("raw", each, TRAIN, standardise=True, components=3) for each in (rows, others)
    )
    for one, other in zip(before[1:], after[1:], strict=True):
        np.testing.assert_array_equal(one, other)
    trained = apply_features(before, rows)[TRAIN]
    np.testing.assert_allclose(trained.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(trained.std(axis=0), 1, rtol=1e-12)


@pytest.mark.parametrize(("features", "train", "directions"), [(7, TRAIN, 6), (64, TRAIN, 59)])
def test_more_components_than_the_rows_vary_in_are_refused(
    features: int, train: np.ndarray, directions: int
) -> None:
    """One column is constant, and n rows about their mean span at most n - 1 directions."""
    rows = rows_of(features)
    with refused(
        "data.more_components_than_directions", directions=directions, rows=60, components=60
    ):
        fit_features("raw", rows, train, standardise=True, components=60)
    fit_features("raw", rows, train, standardise=True, components=directions)
