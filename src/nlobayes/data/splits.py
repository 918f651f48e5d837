"""Assignment of rows to splits, and choice of the held-out rows for convergence checks."""

from __future__ import annotations

from decimal import Decimal
from itertools import accumulate, pairwise
from typing import NamedTuple

import numpy as np

from nlobayes.errors import InputError

UNUSED, TRAIN, VALIDATION, TEST = -1, 0, 1, 2
SPLITS = ("train", "val", "test")
"""Names of the splits; a row's label is the position of its name."""

STATED = ("train", "validation", "test")
"""Their names in a column of a table."""
LONGEST_CELL = 40
"""Most characters of a cell in a message."""

FRACTION_TOLERANCE = 1e-9
"""Largest deviation of the sum of fractions from 1 for which the test split takes all rows left."""


class Split(NamedTuple):
    """How the rows of a dataset are split, all together or those of each class.

    The splits follow each other and end at the truncated sums of the sizes: fractions 0.8, 0.05
    and 0.15 of N rows end at int(0.8 N), int(0.85 N) and N. Rows may be left out before the train
    rows, and between these and the validation rows.
    """

    train: float
    """Number of rows (int) or fraction (float), as the next two."""
    validation: float
    test: float
    shuffle: bool
    """Fill the splits in a random order of the rows; otherwise in their own order."""
    seed: int
    """Seed of the random order."""
    train_from: int = 0
    """Number of rows, in this order, before the first train row."""
    validation_from: int | None = None
    """Number of rows, in this order, before the first validation row."""
    per_class: bool = False
    """Split the rows of every class in the same way."""

    def labels(self, target: np.ndarray) -> np.ndarray:
        """Label every row of a target (row,), whose values matter only as classes.

        Raises InputError if a size is not allowed, more rows are requested than there are, a split
        is empty, or validation rows begin before the train rows end; or so for any class.

        Returns labels of shape (row,), int8: `TRAIN`, `VALIDATION`, `TEST`, or `UNUSED` for rows in
        no split.
        """
        count = len(target)
        order = np.arange(count)
        if self.shuffle:
            order = np.random.default_rng(self.seed).permutation(count)
        labels = np.full(count, UNUSED, np.int8)
        classes = np.unique(target) if self.per_class else [None]
        for one in classes:
            own = order if one is None else order[target[order] == one]
            try:
                bounds = self._bounds(len(own))
            except InputError as error:
                raise error if one is None else error.within(f"class {one:g}") from None
            for label, (start, end) in enumerate(bounds):
                labels[own[start:end]] = label
        return labels

    def _bounds(self, count: int) -> list[tuple[int, int]]:
        """Compute where each split of so many rows begins and ends."""
        sizes = (self.train, self.validation, self.test)
        train, *held_out = (_exact_rows(count, size) for size in sizes)
        train_end = self.train_from + train
        stated = self.validation_from
        later = train_end if stated is None else Decimal(stated)
        ends = [*accumulate(held_out, initial=later)]
        if abs(float(ends[-1]) - count) <= FRACTION_TOLERANCE * count:
            ends[-1] = Decimal(count)
        bounds = [(self.train_from, int(train_end))]
        bounds += [(int(start), int(end)) for start, end in pairwise(ends)]
        requested = [f"{name} {size}" for name, size in zip(SPLITS, sizes, strict=True)]
        if bounds[1][0] < bounds[0][1]:
            raise InputError(
                "data.validation_within_train", train_end=bounds[0][1], start=bounds[1][0]
            )
        if (end := bounds[2][1]) > count:
            raise InputError("data.splits_too_large", end=end, requested=requested, count=count)
        for name, (start, stop) in zip(SPLITS, bounds, strict=True):
            if start == stop:
                raise InputError(
                    "data.split_is_empty", split=name, requested=requested, count=count
                )
        return bounds


class StatedSplit(NamedTuple):
    """The split of each row as a column of the table states it."""

    column: str
    """Name of the column, for errors."""
    words: np.ndarray
    """Its cells (row,)."""

    def labels(self, target: np.ndarray) -> np.ndarray:
        """Return labels of shape (row,), int8, as `Split.labels` does; empty cells are `UNUSED`.

        Raises InputError if a cell is no name of a split, or a split is empty.
        """
        labels = np.full(len(target), UNUSED, np.int8)
        words = np.char.strip(self.words.astype(str))
        for label, name in enumerate(STATED):
            labels[words == name] = label
            if not np.any(labels == label):
                raise InputError("data.no_row_of_split", column=self.column, split=name)
        if (bad := (labels == UNUSED) & (words != "")).any():
            row = int(bad.argmax())
            raise InputError(
                "data.no_such_split",
                column=self.column,
                row=row + 1,
                cell=str(words[row])[:LONGEST_CELL],
                known=STATED,
            )
        return labels


def split_of(random: np.ndarray) -> np.ndarray:
    """Return the split of each point as a column states it: random points are held out, in turn.

    `random` (row,) marks them; all others are train rows.
    """
    words = np.full(len(random), STATED[TRAIN], dtype=object)
    held_out = np.flatnonzero(random)
    words[held_out[::2]], words[held_out[1::2]] = STATED[VALIDATION], STATED[TEST]
    return words


def reference_rows(labels: np.ndarray, count: int) -> np.ndarray:
    """Choose evenly spaced validation and test rows at which convergence is checked.

    Raises InputError if no row is requested or none is held out.

    Parameters
    ----------
    labels
        Split of each row, shape (row,).
    count
        Number of rows requested; fewer are returned where fewer are held out.

    Returns
    -------
    Row indices, ascending, shape (min(count, held-out rows),).
    """
    held_out = np.flatnonzero((labels == VALIDATION) | (labels == TEST))
    if count < 1 or held_out.size == 0:
        raise InputError("data.no_reference_rows", count=count, held_out=held_out.size)
    chosen = np.linspace(0, held_out.size - 1, min(count, held_out.size)).round().astype(np.intp)
    return held_out[chosen]


def _exact_rows(count: int, size: float) -> Decimal:
    # Decimals: 0.7 + 0.1 of 10 rows must end at row 8, sums of binary fractions truncate to 7.
    if isinstance(size, float) and 0 < size < 1:
        return count * Decimal(repr(size))
    if isinstance(size, int) and not isinstance(size, bool) and size >= 1:
        return Decimal(size)
    raise InputError("data.split_size", size=size)
