"""Splits end as in the thesis, and no row is in two of them."""

import math
from collections.abc import Sequence
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nlobayes.data.splits import TEST, TRAIN, UNUSED, VALIDATION, Split, StatedSplit, reference_rows
from tests.refusals import refused

FIXED = settings(deadline=None, derandomize=True)
THESIS = (0.8, 0.05, 0.15)


def split_rows(
    count: int,
    sizes: Sequence[float],
    *,
    shuffle: bool,
    seed: int,
    train_from: int = 0,
    validation_from: int | None = None,
    classes: np.ndarray | None = None,
) -> np.ndarray:
    train, validation, test = sizes
    begins, per_class = (train_from, validation_from), classes is not None
    split = Split(train, validation, test, shuffle, seed, *begins, per_class)
    return split.labels(np.zeros(count) if classes is None else classes)


def sizes_of(labels: np.ndarray) -> list[int]:
    return [int(np.sum(labels == label)) for label in (TRAIN, VALIDATION, TEST, UNUSED)]


def test_thesis_split() -> None:
    labels = split_rows(14683, THESIS, shuffle=False, seed=0)
    assert labels.dtype == np.int8
    assert sizes_of(labels) == [11746, 734, 2203, 0]
    assert np.all(np.diff(labels) >= 0)


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [
        ((6, 2, 2), [6, 2, 2, 0]),
        ((5, 1, 2), [5, 1, 2, 2]),
        ((0.5, 0.2, 0.2), [5, 2, 2, 1]),
        ((1 / 3, 1 / 3, 1 / 3), [3, 3, 4, 0]),
        ((0.5, 2, 2), [5, 2, 2, 1]),
    ],
)
def test_rows_fractions_and_both(sizes: Sequence[float], expected: list[int]) -> None:
    for shuffle in (False, True):
        assert sizes_of(split_rows(10, sizes, shuffle=shuffle, seed=1)) == expected


def test_shuffle_is_seeded_and_random() -> None:
    labels = split_rows(1000, THESIS, shuffle=True, seed=7)
    np.testing.assert_array_equal(labels, split_rows(1000, THESIS, shuffle=True, seed=7))
    assert np.any(labels != split_rows(1000, THESIS, shuffle=True, seed=8))
    # Hypergeometric: 400 +- 6.3 of the first 500 rows are train rows; 5 sd allowed.
    assert abs(np.sum(labels[:500] == TRAIN) - 400) < 32


def test_old_and_new_rows_share_what_is_held_out() -> None:
    sizes, shuffled = (25, 10, 0.4), partial(split_rows, 100, shuffle=True, seed=3)
    old = shuffled(sizes, validation_from=50)
    new = shuffled(sizes, train_from=25, validation_from=50)
    union = shuffled((50, 10, 0.4))
    np.testing.assert_array_equal(union == TRAIN, (old == TRAIN) ^ (new == TRAIN))
    for held_out in (VALIDATION, TEST):
        for labels in (old, new):
            np.testing.assert_array_equal(labels == held_out, union == held_out)
    assert sizes_of(old) == sizes_of(new) == [25, 10, 40, 25]
    assert sizes_of(union) == [50, 10, 40, 0]


def test_validation_rows_begin_after_the_train_rows() -> None:
    with refused("data.validation_within_train", train_end=7, start=6):
        split_rows(20, (5, 2, 2), shuffle=False, seed=0, train_from=2, validation_from=6)
    with refused("data.splits_too_large", end=21, count=20):
        split_rows(20, (5, 2, 2), shuffle=False, seed=0, train_from=12)


@pytest.mark.parametrize(
    ("sizes", "code", "fields"),
    [
        (
            (8, 2, 2),
            "data.splits_too_large",
            {"end": 12, "requested": ["train 8", "val 2", "test 2"]},
        ),
        ((0.8, 0.2, 0.2), "data.splits_too_large", {"end": 12, "count": 10}),
        ((0.8, 0.05, 0.15), "data.split_is_empty", {"split": "val", "count": 10}),
        ((8, 0, 2), "data.split_size", {"size": 0}),
        ((8, -1, 2), "data.split_size", {"size": -1}),
        ((0.8, 1.0, 0.1), "data.split_size", {"size": 1.0}),
        ((0.8, math.nan, 0.1), "data.split_size", {"size": math.nan}),
        ((True, 1, 1), "data.split_size", {"size": True}),
    ],
)
def test_sizes_refused(sizes: Sequence[float], code: str, fields: dict[str, object]) -> None:
    with refused(code, **fields):
        split_rows(10, sizes, shuffle=False, seed=0)


def test_reference_rows_by_hand() -> None:
    labels = np.array([TEST, TRAIN, UNUSED, VALIDATION, TEST, TRAIN, VALIDATION, TEST], np.int8)
    np.testing.assert_array_equal(reference_rows(labels, 3), [0, 4, 7])
    np.testing.assert_array_equal(reference_rows(labels, 99), [0, 3, 4, 6, 7])


@FIXED
@given(st.integers(10, 500), st.integers(1, 500), st.integers(0, 10))
def test_reference_rows_are_distinct_and_held_out(rows: int, count: int, seed: int) -> None:
    labels = split_rows(rows, (0.5, 0.2, 0.3), shuffle=True, seed=seed)
    chosen = reference_rows(labels, count)
    held_out = int(np.sum(labels > TRAIN))
    assert len(chosen) == min(count, held_out)
    assert np.all(np.diff(chosen) > 0)
    assert np.all(labels[chosen] > TRAIN)


CLASSES_OF_ROWS = np.resize([2.0, 0.0, 1.0, 1.0, 0.0], 200)


@pytest.mark.parametrize("shuffle", [False, True])
def test_each_class_is_split_alike(shuffle: bool) -> None:
    labels = split_rows(200, (10, 5, 20), shuffle=shuffle, seed=3, classes=CLASSES_OF_ROWS)
    for label, rows in ((0, 80), (1, 80), (2, 40)):
        assert sizes_of(labels[label == CLASSES_OF_ROWS]) == [10, 5, 20, rows - 35]
    assert np.array_equal(np.flatnonzero(labels == TRAIN)[:4], [0, 1, 2, 3]) != shuffle


def test_a_column_states_the_splits() -> None:
    words = np.array(["test", "train ", "", "validation", "train"])
    labels = StatedSplit("split", words).labels(np.zeros(5))
    assert labels.dtype == np.int8
    assert labels.tolist() == [TEST, TRAIN, UNUSED, VALIDATION, TRAIN]


@pytest.mark.parametrize(
    ("words", "code", "fields"),
    [
        (["train", "test"], "data.no_row_of_split", {"split": "validation"}),
        (["train", "validation", "test", "dev"], "data.no_such_split", {"row": 4, "cell": "dev"}),
        ([1.0, 0.0, 1.0], "data.no_row_of_split", {"split": "train"}),
    ],
)
def test_other_words_are_refused(words: list[object], code: str, fields: dict[str, object]) -> None:
    with refused(code, column="split", **fields):
        StatedSplit("split", np.array(words)).labels(np.zeros(len(words)))
