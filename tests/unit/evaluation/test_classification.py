"""Scores of class probabilities against hand calculation, loops over points, and properties."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from nlobayes.evaluation.scores.classification.classes import (
    ClassPrediction,
    classification_scores,
    predict_classes,
)
from nlobayes.evaluation.scores.decisions import THRESHOLDS
from tests.refusals import refused

Scores = dict[str, float | str]
Split = tuple[np.ndarray, np.ndarray]


def scored(probabilities: np.ndarray, labels: np.ndarray) -> Scores:
    return classification_scores(predict_classes(probabilities), labels)


def number(scores: Scores, name: str) -> float:
    found = scores[name]
    assert isinstance(found, float), found
    return found


def softmax(logits: np.ndarray) -> np.ndarray:
    powers = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def random_split(classes: int, *, draws: int = 7, points: int = 60, seed: int = 1) -> Split:
    rng = np.random.default_rng(seed)
    logits = 2 * rng.normal(size=(points, classes)) + rng.normal(size=(draws, points, classes))
    return softmax(logits), rng.integers(classes, size=points)


@st.composite
def splits(draw: st.DrawFn) -> Split:
    """One to four draws at two to twelve points of two to six classes."""
    draws, points, classes = (draw(st.integers(*ends)) for ends in ((1, 4), (2, 12), (2, 6)))
    logits = draw(hnp.arrays(float, (draws, points, classes), elements=st.floats(-6, 6, width=32)))
    labels = draw(hnp.arrays(int, points, elements=st.integers(0, classes - 1)))
    return softmax(logits), labels


def by_hand(probabilities: np.ndarray, labels: np.ndarray) -> dict[str, list[float]]:
    """Values of each score at every point, from one loop over the points."""
    values: dict[str, list[float]] = {}
    for point, label in enumerate(labels.tolist()):
        each = probabilities[:, point].tolist()
        mean = [math.fsum(column) / len(each) for column in zip(*each, strict=True)]
        entropies = [-math.fsum(p * math.log(p) for p in row if p > 0) for row in [mean, *each]]
        expected = math.fsum(entropies[1:]) / len(each)
        ranked = [c for _, c in sorted((-p, c) for c, p in enumerate(mean))]
        found = {
            "accuracy": float(ranked[0] == label),
            "top_2_accuracy": float(label in ranked[:2]),
            "top_3_accuracy": float(label in ranked[:3]),
            "brier": math.fsum((p - (c == label)) ** 2 for c, p in enumerate(mean)),
            "lppd": math.log(mean[label]),
            "confidence": max(mean),
            "predictive_entropy": entropies[0],
            "expected_entropy": expected,
            "mutual_information": entropies[0] - expected,
        }
        for name, value in found.items():
            values.setdefault(name, []).append(value)
    return values


@pytest.mark.parametrize("classes", [2, 3, 4, 10])
def test_scores_are_means_over_points_with_their_standard_errors(classes: int) -> None:
    probabilities, labels = random_split(classes)
    scores = scored(probabilities, labels)
    for name, values in by_hand(probabilities, labels).items():
        if name.startswith("top") and int(name[4]) >= classes:
            assert name not in scores
            continue
        assert scores[name] == pytest.approx(np.mean(values), abs=1e-12)
        assert scores[f"{name}_se"] == pytest.approx(np.std(values) / np.sqrt(60), abs=1e-12)


def test_two_draws_that_contradict_each_other() -> None:
    """Each is sure, so all of the entropy log 2 of their mean is epistemic."""
    scores = scored(np.array([[[1.0, 0.0]], [[0.0, 1.0]]]).repeat(2, axis=1), np.array([0, 1]))
    assert scores["mutual_information"] == pytest.approx(np.log(2))
    assert scores["expected_entropy"] == 0.0
    assert scores["brier"] == pytest.approx(0.5)
    assert scores["lppd"] == pytest.approx(-np.log(2))
    assert scores["accuracy"] == 0.5


def test_draws_that_agree_leave_no_epistemic_entropy() -> None:
    probabilities, labels = random_split(5, draws=1)
    scores = scored(probabilities.repeat(6, axis=0), labels)
    assert scores["mutual_information"] == pytest.approx(0.0, abs=1e-14)
    assert scores["predictive_entropy"] == pytest.approx(number(scores, "expected_entropy"))


@given(splits())
def test_bounds(split: Split) -> None:
    scores, classes = scored(*split), split[0].shape[2]
    top = [number(scores, "accuracy")]
    top += [number(scores, f"top_{k}_accuracy") for k in (2, 3) if k < classes]
    assert [0, *top, 1] == sorted([0, *top, 1])
    assert 0 <= number(scores, "brier") <= 2
    assert number(scores, "lppd") <= 0
    assert 1 / classes <= number(scores, "confidence") + 1e-12
    total = number(scores, "predictive_entropy")
    assert 0 <= number(scores, "mutual_information") <= total + 1e-12 <= np.log(classes) + 1e-9
    assert 0 <= number(scores, "ece") <= 1
    for name in ("precision_macro", "recall_macro", "f1_macro"):
        assert 0 <= number(scores, name) <= 1
    answered = [number(scores, f"answered_at_{percent}") for percent in THRESHOLDS]
    assert answered == sorted(answered, reverse=True)


@given(st.integers(2, 6), st.integers(0, 2**32 - 1))
def test_naming_the_classes_otherwise_changes_nothing(classes: int, seed: int) -> None:
    """Where no two are equally probable."""
    probabilities, labels = random_split(classes, points=9, seed=seed)
    order = np.random.default_rng(seed).permutation(classes)
    there = scored(probabilities[:, :, order], np.argsort(order)[labels])
    for name, here in scored(probabilities, labels).items():
        same = here if isinstance(here, str) else pytest.approx(here, abs=1e-9)
        assert there[name] == same, name


@given(st.integers(2, 6), st.integers(0, 2**32 - 1))
def test_order_of_points_and_draws_changes_nothing(classes: int, seed: int) -> None:
    """Where no two classes are equally probable, to the rounding of their means."""
    probabilities, labels = random_split(classes, points=9, seed=seed)
    rng = np.random.default_rng(seed)
    points, draws = rng.permutation(len(labels)), rng.permutation(len(probabilities))
    there = scored(probabilities[draws][:, points], labels[points])
    for name in ("accuracy", "brier", "lppd", "mutual_information", "f1_macro"):
        assert there[name] == pytest.approx(scored(probabilities, labels)[name], abs=1e-9)


def test_brier_score_is_reliability_minus_resolution_plus_uncertainty() -> None:
    """Murphy (1973), exact where forecasts take few values: here three."""
    rng = np.random.default_rng(5)
    values = softmax(rng.normal(size=(3, 4)))
    kind, labels = rng.integers(3, size=200), rng.integers(4, size=200)
    truth = np.eye(4)[labels]
    reliability = resolution = 0.0
    for forecast in range(3):
        chosen = truth[kind == forecast]
        frequency = chosen.mean(axis=0)
        reliability += len(chosen) / 200 * np.square(values[forecast] - frequency).sum()
        resolution += len(chosen) / 200 * np.square(frequency - truth.mean(axis=0)).sum()
    climate = truth.mean(axis=0)
    expected = reliability - resolution + np.sum(climate * (1 - climate))
    assert scored(values[kind][None], labels)["brier"] == pytest.approx(expected, abs=1e-12)


@pytest.mark.statistical
def test_truth_drawn_from_the_probabilities_has_the_scores_they_promise() -> None:
    """Accuracy is confidence, log loss the entropy, Brier 1 - sum of p²; four standard errors."""
    rng = np.random.default_rng(6)
    mean = softmax(2 * rng.normal(size=(20_000, 6)))
    labels = (rng.random((20_000, 1)) > mean.cumsum(axis=1)[:, :-1]).sum(axis=1)
    scores = scored(mean[None], labels)
    for name, promised in (
        ("accuracy", number(scores, "confidence")),
        ("lppd", -number(scores, "predictive_entropy")),
        ("brier", float(np.mean(1 - np.square(mean).sum(axis=1)))),
    ):
        error = number(scores, f"{name}_se")
        assert 0.001 < error < 0.02
        assert scores[name] == pytest.approx(promised, abs=4 * error)


def test_of_equally_probable_classes_the_first_is_predicted() -> None:
    even = np.full((1, 4, 4), 0.25)
    scores = scored(even, np.arange(4))
    assert (scores["accuracy"], scores["top_2_accuracy"], scores["top_3_accuracy"]) == (
        0.25,
        0.5,
        0.75,
    )


def test_a_true_class_of_probability_zero_is_stated() -> None:
    probabilities = np.array([[[1.0, 0.0], [0.5, 0.5]]])
    scores = scored(probabilities, np.array([1, 0]))
    assert scores["lppd"] == scores["lppd_se"]
    assert "1 of 2 points have a true class of probability 0" in str(scores["lppd"])


GOOD, LABELS = random_split(3, points=4)
BAD_PROBABILITIES: dict[str, tuple[Callable[[np.ndarray], np.ndarray], str, dict[str, Any]]] = {
    "two axes": (lambda p: p[:, :, 1], "no_classes", {"shape": (7, 4)}),
    "one class": (lambda p: np.ones_like(p[:, :, :1]), "no_classes", {"shape": (7, 4, 1)}),
    "no draws": (lambda p: p[:0], "no_classes", {"shape": (0, 4, 3)}),
    "logits": (np.log, "no_probabilities", {"more": 27}),
    "percent": (lambda p: 100 * p, "no_probabilities", {"more": 27}),
    "negative": (lambda p: np.add(p, [0.0, 1.5, -1.5]), "no_probabilities", {"more": 27}),
    "nan": (
        lambda p: np.where(p == p[2, 1, 0], np.nan, p),
        "no_probabilities",
        {"draw": 2, "point": 1, "more": 0},
    ),
}


@pytest.mark.parametrize("name", BAD_PROBABILITIES)
def test_what_is_no_probability_is_refused(name: str) -> None:
    spoil, fault, fields = BAD_PROBABILITIES[name]
    with refused(f"evaluation.{fault}", **fields):
        predict_classes(spoil(GOOD))


@pytest.mark.parametrize("strange", [-1, 3, 0.5, np.nan])
def test_labels_out_of_range_are_refused(strange: float) -> None:
    labels = np.append(LABELS[:3].astype(np.float64), strange)
    with refused("evaluation.no_class", largest=2, strange=1, points=4) as caught:
        scored(GOOD, labels)
    np.testing.assert_equal(caught.value.fields["label"], strange)


def test_prediction_names_class_and_confidence() -> None:
    found = ClassPrediction(np.array([[0.2, 0.5, 0.3], [0.9, 0.1, 0.0]]), np.zeros(2))
    np.testing.assert_array_equal(found.predicted, [1, 0])
    np.testing.assert_array_equal(found.confidence, [0.5, 0.9])
