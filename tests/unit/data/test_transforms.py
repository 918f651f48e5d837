"""Transforms are invertible, and their constants come from the train rows alone."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as st_numpy

from nlobayes.data.feature_maps import FEATURE_MAPS
from nlobayes.data.transforms import (
    TargetTransform,
    apply_features,
    apply_target,
    fit_features,
    fit_target,
    unstandardise,
)
from tests.refusals import refused

FIXED = settings(deadline=None, derandomize=True)


def neutralinos(rows: int, seed: int) -> np.ndarray:
    """Draw masses of either sign above the threshold, and normalised mixings."""
    rng = np.random.default_rng(seed)
    masses = rng.uniform(46, 1000, rows) * rng.choice([-1, 1], rows)
    mixing = rng.normal(size=(rows, 4))
    return np.column_stack([masses, mixing / np.linalg.norm(mixing, axis=1, keepdims=True)])


@pytest.mark.parametrize("name", FEATURE_MAPS)
def test_constants_come_from_train_rows_alone(name: str) -> None:
    inputs = neutralinos(300, seed=3)
    if len(FEATURE_MAPS[name].COLUMNS or ()) == 10:
        inputs = np.hstack([inputs, neutralinos(300, seed=8)])
    train = np.arange(300) < 200
    transform = fit_features(name, inputs, train, standardise=True)
    features = apply_features(transform, inputs)
    np.testing.assert_allclose(features[train].mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(features[train].std(axis=0), 1, rtol=1e-12)
    others = inputs.copy()
    others[200:] *= 0.99
    again = fit_features(name, others, train, standardise=True)
    np.testing.assert_array_equal(transform.mean, again.mean)
    np.testing.assert_array_equal(transform.scale, again.scale)


@pytest.mark.parametrize(
    ("name", "mass", "allowed"),
    [
        ("invariants", 0.0, "|m| above 0"),
        ("invariants", np.nan, "|m| above 0"),
        ("threshold_invariants", -45.5, "|m| above 45.5 GeV"),
        ("threshold_invariants", 20.0, "|m| above 45.5 GeV"),
        ("raw", np.inf, "finite inputs"),
        ("ratios", 0.0, "the first not 0"),
    ],
)
def test_features_refused(name: str, mass: float, allowed: str) -> None:
    """Also rows outside the train split, by their own number."""
    inputs = neutralinos(4, seed=5)
    inputs[2, 0] = mass
    with refused("data.features_not_finite", map=name, count=1, total=4, rows=[3]) as caught:
        fit_features(name, inputs, np.array([True, True, False, False]), standardise=False)
    assert allowed in caught.value.fields["allowed"]


def test_of_many_bad_rows_the_first_are_named() -> None:
    inputs = neutralinos(9, seed=5)
    inputs[1:, 0] = np.nan
    with refused("data.features_not_finite", count=8, rows=[2, 3, 4, 5, 6, "..."]):
        fit_features("raw", inputs, np.ones(9, bool), standardise=False)
    inputs[:4, 0] = 100
    with refused("data.features_not_finite", count=5, rows=[5, 6, 7, 8, 9]):
        fit_features("raw", inputs, np.ones(9, bool), standardise=False)


def test_unknown_maps_are_refused() -> None:
    with refused("data.unknown_map", map="squares", known=[*FEATURE_MAPS]):
        fit_features("squares", neutralinos(4, seed=5), np.ones(4, bool), standardise=False)


@pytest.mark.parametrize("name", ["raw", "invariants"])
def test_a_feature_that_is_constant_on_the_train_rows_is_0_there(name: str) -> None:
    """Elsewhere it has its own unit; the other features are those of a table without it."""
    inputs, train = neutralinos(10, seed=6), np.arange(10) < 7
    whole = apply_features(fit_features(name, inputs, train, standardise=True), inputs)
    inputs[train, 2] = 0.1
    changed = apply_features(fit_features(name, inputs, train, standardise=True), inputs)
    value, beyond = {"raw": (0.1, inputs[~train, 2])}.get(name, (0.01, inputs[~train, 2] ** 2))
    np.testing.assert_array_equal(changed[train, 2], 0)
    np.testing.assert_allclose(changed[~train, 2], beyond - value, rtol=1e-12)
    np.testing.assert_array_equal(changed[:, [0, 1, 3]], whole[:, [0, 1, 3]])


@pytest.mark.parametrize("rows", [1, 5])
def test_features_of_which_none_varies_are_refused(rows: int) -> None:
    same = np.tile(neutralinos(1, seed=6), (rows, 1))
    with refused("data.no_feature_varies"):
        fit_features("raw", same, np.ones(rows, bool), standardise=True)


@FIXED
@given(
    st_numpy.arrays(np.float64, st.integers(3, 20), elements=st.floats(1e-12, 1e6), unique=True),
    st.booleans(),
)
def test_log10_target_inverts(target: np.ndarray, standardise: bool) -> None:
    target = np.concatenate([target, [1e-3, 1.0]])  # so that the train rows always vary
    transform = fit_target("log10", target, np.ones(target.size, bool), standardise=standardise)
    values = apply_target(transform, target)
    np.testing.assert_allclose(unstandardise(transform, values), np.log10(target), atol=1e-13)


@FIXED
@given(
    st_numpy.arrays(np.float64, st.integers(3, 20), elements=st.floats(-1e3, 1e3), unique=True),
    st.booleans(),
)
def test_identity_target_inverts(target: np.ndarray, standardise: bool) -> None:
    target = np.concatenate([target, [-1e3, 1e3]])
    transform = fit_target("identity", target, np.ones(target.size, bool), standardise=standardise)
    recovered = unstandardise(transform, apply_target(transform, target))
    np.testing.assert_allclose(recovered, target, rtol=1e-13, atol=1e-11)


def test_target_constants_by_hand() -> None:
    target = np.array([1e-2, 1e2, 1e5])
    transform = fit_target("log10", target, np.array([True, True, False]), standardise=True)
    assert transform == TargetTransform("log10", 0.0, 2.0)
    np.testing.assert_allclose(apply_target(transform, target), [-1, 1, 2.5], rtol=1e-15)


def test_inverse_takes_any_shape() -> None:
    transform = TargetTransform("log10", -1.0, 0.5)
    draws = np.linspace(-3, 3, 24).reshape(2, 3, 4)
    np.testing.assert_allclose(unstandardise(transform, draws), draws / 2 - 1, rtol=1e-14)


@pytest.mark.parametrize(
    ("scale", "value", "allowed"),
    [("log10", 0.0, "positive"), ("log10", -1.0, "positive"), ("identity", np.nan, "finite")],
)
def test_targets_refused(scale: str, value: float, allowed: str) -> None:
    bad = {"count": 1, "total": 3, "rows": [2]}
    with refused("data.target_not_finite", scale=scale, allowed=allowed, **bad):
        fit_target(scale, np.array([1.0, value, 3.0]), np.ones(3, bool), standardise=True)


def test_labels_are_whole_and_occur_in_the_train_rows() -> None:
    with refused("data.labels_are_no_classes", labels=[0.5, 1.0]):
        fit_target("classes", np.array([0.5, 1.0]), np.ones(2, bool), standardise=False)
    with refused("data.classes_not_trained", labels=[2.0]):
        train = np.array([True, True, False])
        fit_target("classes", np.arange(3.0), train, standardise=False)


def test_unknown_scales_are_refused() -> None:
    with refused("data.unknown_scale", scale="ln", known=["log10", "identity", "classes"]):
        fit_target("ln", np.arange(3.0), np.ones(3, bool), standardise=True)


def test_constant_target_cannot_be_standardised() -> None:
    with refused("data.constant_target", scale="log10", value=0):
        fit_target("log10", np.ones(3), np.ones(3, bool), standardise=True)
    with refused("data.no_train_rows"):
        fit_target("log10", np.ones(3), np.zeros(3, bool), standardise=True)
