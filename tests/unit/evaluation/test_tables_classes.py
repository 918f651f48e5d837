"""Tables of single rows of classes: a plane of two inputs, and chosen examples."""

import numpy as np
import pytest

from nlobayes.data.splits import TEST
from nlobayes.evaluation.scores.classification.classes import classification_scores, predict_classes
from nlobayes.evaluation.tables.class_tables import choose_examples, example_tables, plane_tables
from nlobayes.surrogate.prediction import ROWS_OF_GRID, grid_over, plane_of
from tests.unit.plots.class_tables import clouds, columns_of

CLASSES = 3


def test_a_grid_holds_all_rows_with_a_margin() -> None:
    data, _ = clouds(CLASSES)
    grid = grid_over(data.inputs)
    assert grid.shape == (ROWS_OF_GRID**2, 2)
    span = np.ptp(data.inputs, axis=0)
    np.testing.assert_allclose(grid.min(axis=0), data.inputs.min(axis=0) - 0.1 * span)
    np.testing.assert_allclose(grid.max(axis=0), data.inputs.max(axis=0) + 0.1 * span)
    assert len(np.unique(grid, axis=0)) == len(grid)


def test_a_plane_agrees_with_the_scores_of_the_same_points() -> None:
    """Its mean disagreement is the score `mutual_information`, from parts as from the whole."""
    data, probabilities = clouds(CLASSES)
    parts = np.array_split(probabilities, 7, axis=1)
    plane = plane_of(data.inputs, parts)
    rows = np.arange(len(data.split))
    found = plane_tables(plane, data, rows, columns_of(data, probabilities))
    table = {name: values.reshape(-1, CLASSES) for name, values in found["plane"].items()}
    np.testing.assert_array_equal(table["first"][:, 0], data.inputs[:, 0])
    np.testing.assert_array_equal(table["second"][:, 2], data.inputs[:, 1])
    np.testing.assert_allclose(table["probability"], probabilities.mean(axis=0), rtol=1e-12)
    assert np.all(table["class"] == [0, 1, 2])
    scores = classification_scores(predict_classes(probabilities), data.target.astype(int))
    assert table["disagreement"].mean() == pytest.approx(scores["mutual_information"], rel=1e-9)
    assert np.all(np.ptp(table["disagreement"], axis=1) == 0)
    right = found["plane_points"]["right"]
    assert right.mean() == pytest.approx(scores["accuracy"])
    assert found["plane_inputs"]["input"].tolist() == ["x1 (GeV)", "x2"]


def test_chosen_rows_are_shown_with_their_columns() -> None:
    data, probabilities = clouds(CLASSES)
    plane, rows = plane_of(data.inputs, [probabilities]), np.array([7, 3, 11])
    points = plane_tables(plane, data, rows, {"right": np.array([1, 0, 1])})["plane_points"]
    np.testing.assert_array_equal(points["second"], data.inputs[rows, 1])
    np.testing.assert_array_equal(points["class"], data.target[rows])
    assert points["right"].tolist() == [1, 0, 1]


def test_examples_are_the_surest_wrong_and_the_least_and_most_sure_right() -> None:
    data, probabilities = clouds(CLASSES, inputs=6)
    predicted, labels = predict_classes(probabilities), data.target
    wrong, hardly, sure = choose_examples(predicted, labels)
    right = predicted.predicted == labels
    confidence = predicted.confidence
    assert confidence[wrong].tolist() == sorted(confidence[~right])[::-1][:4]
    assert confidence[hardly].tolist() == sorted(confidence[right])[:4]
    assert confidence[sure].tolist() == sorted(confidence[right])[::-1][:4]


def test_examples_come_with_their_pixels_in_rows_and_columns() -> None:
    data, probabilities = clouds(CLASSES, inputs=6)
    rows = np.flatnonzero(data.split == TEST)
    tested = predict_classes(probabilities[:, rows])
    found = example_tables(tested, data, rows, (2, 3))
    points = found["examples"]["point"]
    assert np.all(data.split[points] == TEST)
    np.testing.assert_array_equal(found["examples"]["true"], data.target[points])
    pixels = found["example_inputs"]["value"].reshape(len(points), 2, 3)
    np.testing.assert_array_equal(pixels, data.inputs[points].reshape(-1, 2, 3))
    assert found["example_inputs"]["row"][:6].tolist() == [0, 0, 0, 1, 1, 1]
    assert found["example_inputs"]["column"][:6].tolist() == [0, 1, 2, 0, 1, 2]
    mean = probabilities.mean(axis=0)[points]
    np.testing.assert_allclose(found["example_probabilities"]["probability"], mean.ravel())
    flat = example_tables(tested, data, rows, None)["example_inputs"]
    assert (flat["row"].max(), flat["column"].max()) == (0, 5)
