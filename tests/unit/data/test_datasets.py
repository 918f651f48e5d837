"""Datasets from tables: constants come from the train rows alone, and the order is kept."""

from typing import Any

import numpy as np
import pytest

from nlobayes.data.dataset_of_table import Choices, make_dataset
from nlobayes.data.selection import Selection
from nlobayes.data.splits import TEST, TRAIN, UNUSED, VALIDATION, Split
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


def test_features_come_from_their_constants(points: Selection, choices: Choices) -> None:
    """Compare with ln|m| computed directly, with the stored mean and scale."""
    dataset = make(points, choices)
    constants = dataset.transforms["features"]
    expected = np.log(np.abs(points.inputs[:, 0]))
    expected = (expected - constants["mean"][0]) / constants["scale"][0]
    np.testing.assert_allclose(dataset.features[:, 0], expected, rtol=1e-14)
    assert (constants["map"], dataset.feature_names[0]) == ("invariants", "ln|m|")


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


@pytest.mark.parametrize("sign", [1, -1])
def test_errors_up_and_down_become_ratios_whatever_their_signs(
    points: Selection, choices: Choices, sign: int
) -> None:
    """Errors of scale of 4 to 8 and 3 to 6 %, beside combined ones of 8 to 16 and 7 to 14 %."""
    sigma = points.target
    errors = np.outer(np.linspace(1, 2, len(sigma)), [0.04, sign * 0.03, 0.08, sign * 0.07])
    columns = np.column_stack([sigma, errors * sigma[:, None]])
    names = ("sigma_pb", "a", "b", "c", "d")
    selection = points._replace(target=columns, units=points.units | dict.fromkeys(names, "pb"))
    theory = {"scale_errors": ("a", "b"), "combined": ("c", "d")}
    made = make_dataset(selection, COLUMNS, names, choices._replace(theory=theory))
    ratios = made.observed[:, 1:]
    np.testing.assert_allclose(ratios, [1, 1, 0, 0] + np.abs(errors) * [1, -1, 1, 1])
    assert made.transforms["theory"] == {
        "scale": ["a_over_sigma_pb", "b_over_sigma_pb"],
        "combined": ["c_over_sigma_pb", "d_over_sigma_pb"],
    }


def test_reference_points_are_held_out(points: Selection, choices: Choices) -> None:
    dataset = make(points, choices)
    assert len(dataset.reference) == 6
    assert set(dataset.split[dataset.reference].tolist()) <= {VALIDATION, TEST}


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
