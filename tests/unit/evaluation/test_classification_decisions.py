"""Confusion, averages over classes and answers above a threshold against loops and known tables."""

import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from nlobayes.evaluation.scores.decisions import (
    THRESHOLDS,
    confusion_matrix,
    confusion_table,
    macro_scores,
    threshold_scores,
    threshold_table,
)

PAIRS = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=30)
ANSWERS = st.lists(st.tuples(st.floats(0.2, 1), st.booleans()), min_size=1, max_size=30)


def columns(pairs: Sequence[tuple[float, float]]) -> tuple[np.ndarray, np.ndarray]:
    first, second = zip(*pairs, strict=True)
    return np.array(first), np.array(second)


@given(PAIRS)
def test_matrix_and_its_table_count_every_pair(pairs: list[tuple[int, int]]) -> None:
    table = confusion_table(confusion_matrix(*columns(pairs), 5))
    found = {
        (true, predicted): count
        for true, predicted, count in zip(*(table[name].tolist() for name in table), strict=True)
    }
    assert found == {(i, j): pairs.count((i, j)) for i in range(5) for j in range(5)}


def macro_by_hand(pairs: list[tuple[int, int]]) -> dict[str, float]:
    """Precision, recall and their harmonic mean of each class that occurs, averaged."""
    each = []
    for label in {label for pair in pairs for label in pair}:
        right = pairs.count((label, label))
        named = sum(predicted == label for _, predicted in pairs)
        true = sum(label == t for t, _ in pairs)
        precision, recall = right / named if named else 0.0, right / true if true else 0.0
        f1 = 2 * precision * recall / (precision + recall) if right else 0.0
        each.append((precision, recall, f1))
    means = [math.fsum(values) / len(each) for values in zip(*each, strict=True)]
    return dict(zip(("precision_macro", "recall_macro", "f1_macro"), means, strict=True))


@given(PAIRS)
def test_macro_scores_are_means_over_the_classes_that_occur(pairs: list[tuple[int, int]]) -> None:
    found = macro_scores(confusion_matrix(*columns(pairs), 5))
    assert found == pytest.approx(macro_by_hand(pairs), abs=1e-12)


def test_macro_scores_of_a_small_table() -> None:
    """Classes of 3, 1 and 0 points: precisions 1, 1/2, 0; recalls 2/3, 1, 0; F1 4/5, 2/3, 0."""
    labels, predicted = np.array([0, 0, 0, 1]), np.array([0, 0, 1, 1])
    assert macro_scores(confusion_matrix(labels, predicted, 2)) == pytest.approx(
        {"precision_macro": 3 / 4, "recall_macro": 5 / 6, "f1_macro": 11 / 15}
    )
    beside = confusion_matrix(np.append(labels, 1), np.append(predicted, 2), 3)
    assert macro_scores(beside)["precision_macro"] == pytest.approx((1 + 1 / 2 + 0) / 3)


PUBLISHED = {
    (1000, 975, 910, 905): (99.45, 92.82),
    (1000, 978, 910, 904): (99.34, 92.43),
    (2000, 1813, 915, 915): (100, 50.47),
    (1000, 975, 1000, 975): (97.5, 100),
    (2000, 1850, 2000, 1850): (92.5, 100),
}
"""Precision and recall in percent of digits classified by a posterior over networks (J. Berezowski,
master's thesis, Tromsø 2021, table 7.2), and the points, those right, those answered, and those
both, to which they belong."""


@pytest.mark.parametrize("counts", PUBLISHED)
def test_precision_and_recall_are_those_of_the_published_table(
    counts: tuple[int, int, int, int],
) -> None:
    points, right, answered, both = counts
    correct, confidence = np.arange(points) < right, np.full(points, 0.3)
    confidence[:both] = confidence[right : right + answered - both] = 0.5
    scores = threshold_scores(confidence, correct)
    found = [100 * float(scores[f"{name}_at_40"]) for name in ("precision", "recall")]
    assert np.round(found, 2).tolist() == list(PUBLISHED[counts])
    assert scores["answered_at_40"] == answered / points


@given(ANSWERS)
def test_answers_by_hand(answers: list[tuple[float, bool]]) -> None:
    scores = threshold_scores(*columns(answers))
    right = [confidence for confidence, correct in answers if correct]
    for percent in THRESHOLDS:
        given_ = [correct for confidence, correct in answers if confidence >= percent / 100]
        for name, part, whole in (
            ("precision", sum(given_), len(given_)),
            ("recall", sum(given_), len(right)),
            ("answered", len(given_), len(answers)),
        ):
            key = f"{name}_at_{percent}"
            if whole == 0:
                assert "no point is" in str(scores[key])
                continue
            share = part / whole
            assert scores[key] == pytest.approx(share)
            if whole > 1:
                error = math.sqrt(share * (1 - share) / whole)
                assert scores[f"{key}_se"] == pytest.approx(error, abs=1e-12)


@given(ANSWERS)
def test_table_repeats_the_scores(answers: list[tuple[float, bool]]) -> None:
    confidence, correct = columns(answers)
    scores = threshold_scores(confidence, correct)
    table = threshold_table(confidence, correct, np.array(THRESHOLDS) / 100)
    for name in ("precision", "recall", "answered"):
        for percent, found in zip(THRESHOLDS, table[name], strict=True):
            score = scores[f"{name}_at_{percent}"]
            assert np.isnan(found) if isinstance(score, str) else found == pytest.approx(score)


def test_interval_of_precision_is_wilsons() -> None:
    confidence, correct = np.linspace(0.2, 1, 41), np.arange(41) % 3 > 0
    table = threshold_table(confidence, correct, np.array([0.0, 0.5, 0.9]))
    for row, threshold in enumerate(table["threshold"]):
        chosen = correct[confidence >= threshold]
        exact = binomtest(int(chosen.sum()), chosen.size).proportion_ci(method="wilson")
        assert (table["lower"][row], table["upper"][row]) == pytest.approx((exact.low, exact.high))
