"""Datasets from tables: constants come from the train rows alone, and the order is kept."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from nlobayes.data.datasets import Choices, make_dataset
from nlobayes.data.selection import Selection
from nlobayes.data.splits import TEST, TRAIN, UNUSED, VALIDATION, Split
from nlobayes.data.transforms import target_transform, unstandardise
from nlobayes.types import Dataset
from tests.refusals import refused

COLUMNS = ("m1", "n11", "n12", "n13", "n14")


def make(points: Selection, choices: Choices) -> Dataset:
    return make_dataset(points, COLUMNS, ("sigma_pb",), choices)


@pytest.mark.parametrize("label", [VALIDATION, TEST, UNUSED])
def test_rows_that_are_not_trained_on_leave_no_trace_in_the_constants(
    points: Selection, choices: Choices, label: int
) -> None:
    part = choices._replace(split=Split(30, 12, 12, shuffle=True, seed=0))
    before = make(points, part)
    other = before.split == label
    assert other.any()
    inputs = np.where(other[:, None], points.inputs * [3, 0.5, 0.5, 0.5, 0.5], points.inputs)
    target = np.where(other, 1e4 * points.target, points.target)
    after = make(points._replace(inputs=inputs, target=target), part)
    assert after.transforms == before.transforms
    np.testing.assert_array_equal(after.features[~other], before.features[~other])
    np.testing.assert_array_equal(after.target[~other], before.target[~other])
    assert not np.isclose(after.features[other], before.features[other]).all(axis=0).any()


def test_train_rows_make_the_constants(points: Selection, choices: Choices) -> None:
    before = make(points, choices)
    target = np.where(before.split == TRAIN, points.target**2, points.target)
    after = make(points._replace(target=target), choices)
    assert after.transforms["target"]["sd"] == pytest.approx(2 * before.transforms["target"]["sd"])


def test_train_rows_are_centred_and_scaled(points: Selection, choices: Choices) -> None:
    dataset = make(points, choices)
    train = dataset.split == TRAIN
    for values in (*dataset.features[train].T, dataset.target[train]):
        assert values.mean() == pytest.approx(0, abs=1e-12)
        assert values.std() == pytest.approx(1, rel=1e-12)


def test_the_target_comes_back_from_its_constants(points: Selection, choices: Choices) -> None:
    dataset = make(points, choices)
    back = unstandardise(target_transform(dataset.transforms), dataset.target)
    np.testing.assert_allclose(10**back, points.target, rtol=1e-13)
    np.testing.assert_array_equal(dataset.observed, points.target)


def test_features_come_from_their_constants(points: Selection, choices: Choices) -> None:
    """Compare with ln|m| computed directly, with the stored mean and scale."""
    dataset = make(points, choices)
    constants = dataset.transforms["features"]
    expected = np.log(np.abs(points.inputs[:, 0]))
    expected = (expected - constants["mean"][0]) / constants["scale"][0]
    np.testing.assert_allclose(dataset.features[:, 0], expected, rtol=1e-14)
    assert (constants["map"], dataset.feature_names[0]) == ("invariants", "ln|m|")


def test_raw_features_and_targets_enter_as_they_are(points: Selection, choices: Choices) -> None:
    plain = choices._replace(
        feature_map="raw", standardise_features=False, standardise_target=False
    )
    dataset = make(points, plain)
    np.testing.assert_array_equal(dataset.features, points.inputs)
    np.testing.assert_array_equal(dataset.target, np.log10(points.target))
    assert dataset.feature_names == COLUMNS


@pytest.mark.parametrize(("scale", "power"), [("log10", 0), ("identity", 1)])
def test_relative_errors_become_standard_deviations_on_the_scale_that_is_learned(
    points: Selection, choices: Choices, scale: str, power: int
) -> None:
    """Compare with the spread of the scaled target over targets that scatter by these errors."""
    errors = np.linspace(0, 0.01, 60)
    chosen = points._replace(relative_error=errors)
    dataset = make(chosen, choices._replace(target_scale=scale))
    assert dataset.error is not None
    noise = np.random.default_rng(1).standard_normal((20000, 1))
    scattered = points.target * (1 + errors * noise)
    spread = np.std(np.log10(scattered) if scale == "log10" else scattered, axis=0)
    np.testing.assert_allclose(dataset.error, spread, rtol=0.02, atol=1e-12)
    assert dataset.error[-1] == pytest.approx(
        0.01 * points.target[-1] ** power * (0.4342944819 if scale == "log10" else 1), rel=1e-9
    )
    assert make(points, choices).error is None


def test_negative_targets_have_positive_errors(points: Selection, choices: Choices) -> None:
    chosen = points._replace(target=-points.target, relative_error=np.full(60, 0.01))
    dataset = make(chosen, choices._replace(target_scale="identity"))
    np.testing.assert_allclose(dataset.error, 0.01 * points.target)  # type: ignore[arg-type]


def test_rows_keep_their_order(points: Selection, choices: Choices) -> None:
    dataset = make(points, choices)
    np.testing.assert_array_equal(dataset.inputs, points.inputs)
    counts = [int((dataset.split == label).sum()) for label in (TRAIN, VALIDATION, TEST)]
    assert counts == [30, 15, 15]


def test_reference_points_are_held_out(points: Selection, choices: Choices) -> None:
    dataset = make(points, choices)
    assert len(dataset.reference) == 6
    assert set(dataset.split[dataset.reference].tolist()) <= {VALIDATION, TEST}


def test_equal_choices_make_equal_datasets(points: Selection, choices: Choices) -> None:
    one, two = make(points, choices), make(points, choices)
    for name, value in one._asdict().items():
        np.testing.assert_array_equal(value, getattr(two, name))


def test_another_seed_makes_another_split(points: Selection, choices: Choices) -> None:
    others = ({"seed": 1}, {"shuffle": False})
    changed = (choices._replace(split=choices.split._replace(**other)) for other in others)
    reseeded, ordered = (make(points, each).split for each in changed)
    assert (make(points, choices).split != reseeded).any()
    np.testing.assert_array_equal(ordered, np.repeat([TRAIN, VALIDATION, TEST], [30, 15, 15]))


@pytest.mark.parametrize(
    ("change", "code", "fields"),
    [
        ({"split": Split(30, 15, 16, True, 0)}, "data.splits_too_large", {"end": 61, "count": 60}),
        ({"split": Split(0.9, 0.001, 0.099, True, 0)}, "data.split_is_empty", {"split": "val"}),
        ({"feature_map": "squares"}, "data.unknown_map", {"map": "squares"}),
        ({"target_scale": "ln"}, "data.unknown_scale", {"scale": "ln"}),
        ({"reference_points": 0}, "data.no_reference_rows", {"count": 0}),
    ],
    ids=str,
)
def test_choices_that_cannot_be_met_are_refused(
    points: Selection, choices: Choices, change: dict[str, Any], code: str, fields: dict[str, Any]
) -> None:
    with refused(code, **fields):
        make(points, choices._replace(**change))


@pytest.mark.parametrize("label", [TRAIN, TEST])
def test_rows_outside_the_domain_are_refused_in_every_split(
    points: Selection, choices: Choices, label: int
) -> None:
    row = int(np.flatnonzero(make(points, choices).split == label)[0])
    target, inputs = points.target.copy(), points.inputs.copy()
    target[row], inputs[row, 0] = -1.0, 0.0
    bad = {"count": 1, "total": 60, "rows": [row + 1]}
    with refused("data.target_not_finite", **bad, allowed="positive"):
        make(points._replace(target=target), choices)
    with refused("data.features_not_finite", **bad):
        make(points._replace(inputs=inputs), choices)


def test_a_constant_train_target_is_refused(points: Selection, choices: Choices) -> None:
    train = make(points, choices).split == TRAIN
    with refused("data.constant_target", value=np.log10(0.5)):
        make(points._replace(target=np.where(train, 0.5, points.target)), choices)
