"""Assignment of rows to splits, and choice of the held-out rows for convergence checks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal
from itertools import accumulate, pairwise
from typing import NamedTuple

import numpy as np

from nlobayes.errors import InputError

UNUSED, TRAIN, VALIDATION, TEST = -1, 0, 1, 2
SPLITS = ("train", "val", "test")
"""Names of the splits; a row's label is the position of its name."""

FRACTION_TOLERANCE = 1e-9
"""Largest deviation of the sum of fractions from 1 for which the test split takes all rows left."""


class Split(NamedTuple):
    """How the rows of a dataset are split: arguments of `split_rows`, for each class or for all."""

    train: float
    validation: float
    test: float
    shuffle: bool
    seed: int
    train_from: int = 0
    validation_from: int | None = None
    per_class: bool = False

    def labels(self, target: np.ndarray) -> np.ndarray:
        """Label every row of a target (row,), whose values matter only as classes."""
        *sizes, shuffle, seed, train_from, validation_from, per_class = self
        return split_rows(
            len(target),
            sizes,
            shuffle=shuffle,
            seed=seed,
            train_from=train_from,
            validation_from=validation_from,
            classes=target if per_class else None,
        )


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
    """Label every row with its split.

    The splits follow each other and end at the truncated sums of the sizes: fractions 0.8, 0.05
    and 0.15 of N rows end at int(0.8 N), int(0.85 N) and N. Rows may be left out before the train
    rows, and between these and the validation rows.

    Parameters
    ----------
    count
        Number of rows.
    sizes
        Sizes of train, validation and test, each a number of rows (int) or a fraction (float).
    shuffle
        Fill the splits in a random order of the rows; otherwise in their own order.
    seed
        Seed of the random order.
    train_from, validation_from
        Numbers of rows, in this order, before the first train row and before the first validation
        row.
    classes
        Class of each row (row,); the rows of every class are split in the same way, in this order.

    Returns
    -------
    Labels of shape (row,), int8: `TRAIN`, `VALIDATION`, `TEST`, or `UNUSED` for rows in no split.

    Raises
    ------
    InputError
        If a size is not allowed, more rows are requested than there are, a split is empty, or
        validation rows begin before the train rows end; with classes, for any class.
    """
    order = np.random.default_rng(seed).permutation(count) if shuffle else np.arange(count)
    labels = np.full(count, UNUSED, np.int8)
    for own, bounds in bounds_of_parts(order, classes, sizes, train_from, validation_from):
        for label, (start, end) in enumerate(bounds):
            labels[own[start:end]] = label
    return labels


def bounds_of_parts(
    order: np.ndarray,
    classes: np.ndarray | None,
    sizes: Sequence[float],
    train_from: int,
    validation_from: int | None,
) -> Iterator[tuple[np.ndarray, list[tuple[int, int]]]]:
    """Yield the rows of each class in their order, and the bounds of their splits.

    Without classes all rows are one class. Arguments and errors are those of `split_rows`.
    """
    if classes is None:
        yield order, split_bounds(len(order), sizes, train_from, validation_from)
        return
    for label in np.unique(classes):
        own = order[classes[order] == label]
        try:
            yield own, split_bounds(len(own), sizes, train_from, validation_from)
        except InputError as error:
            raise error.within(f"class {label:g}") from None


def reference_rows(labels: np.ndarray, count: int) -> np.ndarray:
    """Choose evenly spaced validation and test rows at which convergence is checked.

    Parameters
    ----------
    labels
        Split of each row, shape (row,).
    count
        Number of rows requested; fewer are returned where fewer are held out.

    Returns
    -------
    Row indices, ascending, shape (min(count, held-out rows),).

    Raises
    ------
    InputError
        If no row is requested or none is held out.
    """
    held_out = np.flatnonzero((labels == VALIDATION) | (labels == TEST))
    if count < 1 or held_out.size == 0:
        raise InputError("data.no_reference_rows", count=count, held_out=held_out.size)
    chosen = np.linspace(0, held_out.size - 1, min(count, held_out.size)).round().astype(np.intp)
    return held_out[chosen]


def split_bounds(
    count: int, sizes: Sequence[float], train_from: int, validation_from: int | None
) -> list[tuple[int, int]]:
    """Compute where each split of `count` rows begins and ends; arguments and errors as above."""
    if len(sizes) != len(SPLITS):
        raise InputError("data.split_sizes", count=len(sizes), splits=SPLITS)
    train, *held_out = (_exact_rows(count, size) for size in sizes)
    train_end = train_from + train
    later = train_end if validation_from is None else Decimal(validation_from)
    ends = [*accumulate(held_out, initial=later)]
    if abs(float(ends[-1]) - count) <= FRACTION_TOLERANCE * count:
        ends[-1] = Decimal(count)
    bounds = [(train_from, int(train_end)), *((int(a), int(b)) for a, b in pairwise(ends))]
    _check_bounds(count, sizes, bounds)
    return bounds


def _check_bounds(count: int, sizes: Sequence[float], bounds: list[tuple[int, int]]) -> None:
    requested = [f"{name} {size}" for name, size in zip(SPLITS, sizes, strict=True)]
    (_, train_end), (later, _), (_, end) = bounds
    if later < train_end:
        raise InputError("data.validation_within_train", train_end=train_end, start=later)
    if end > count:
        raise InputError("data.splits_too_large", end=end, requested=requested, count=count)
    for name, (start, stop) in zip(SPLITS, bounds, strict=True):
        if start == stop:
            raise InputError("data.split_is_empty", split=name, requested=requested, count=count)


def _exact_rows(count: int, size: float) -> Decimal:
    # Decimals: 0.7 + 0.1 of 10 rows must end at row 8, sums of binary fractions truncate to 7.
    if isinstance(size, float) and 0 < size < 1:
        return count * Decimal(repr(size))
    if isinstance(size, int) and not isinstance(size, bool) and size >= 1:
        return Decimal(size)
    raise InputError("data.split_size", size=size)
