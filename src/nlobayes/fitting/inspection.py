"""What the numbers of a column tell: repeats of the target, row numbers, time stamps, sentinels."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

import numpy as np

from nlobayes.data.cells import unread
from nlobayes.fitting.cross_sections import beside_the_name, is_leading_order, whole_word

REPEATS = "repeats the target"
REST = 1e-3
"""Largest share of the sd that a repeat of the target leaves: rounding of its numbers."""
NOTHING = 1e-6
"""Share of the sd below which a leading order, or a calculation, is the target itself."""
BASES = (1.0, *np.log([2, 10]), np.log(10) / 10)
"""Change of a natural logarithm for one unit of ln, log2, log10 and decibel."""
POWERS = (0.5, 1.0, 2.0)
TIED = 0.9999
"""Rank correlation above which one column orders the rows as another does."""
CHANCE = 3.0
"""Rank correlations above this many standard errors, 1 / sqrt(rows), are none by chance."""
FEW = 0.1
"""Largest share of rows that count as few."""
FEWEST_OTHERS = 5
"""Fewest different values beside a sentinel; columns of few values are categories."""
STORED_ROW_NUMBERS = re.compile(r"unnamed[\W_]*[\d.]*|__index_level_\d+__", re.IGNORECASE)
"""Names that pandas gives to row numbers."""
ROW_NUMBERS = re.compile(
    r"(?:row|line|sample|record|point|entry|case|event)?[ _.-]?(?:index|idx|id|nr|no|number|#)?",
    re.IGNORECASE,
)
TIME = whole_word("time(?:stamp)?s?", "date(?:time)?", "epoch", "unix(?:time)?", "utc")
SECONDS = (3e8, 4e9)
"""Seconds since 1970 of the years 1979 to 2096."""
USUAL = re.compile(r"-[19]|-?(?:9{2,6}|9\.?9*e\+\d+|1e\+[3-9]\d)")
"""Numbers that often stand for a missing one, such as -1, -999 and 9e99."""


def numbers_of(cells: np.ndarray) -> np.ndarray | None:
    """Return a column (row,) as numbers, NaN where a cell cannot be read; None for other text."""
    if cells.dtype.kind == "f":
        return cells
    words = [*map(str, cells)]
    odd = {*unread(words)}
    if not odd:
        return None
    return np.array([np.nan if row in odd else float(word) for row, word in enumerate(words)])


def are_row_numbers(name: str, values: np.ndarray) -> bool:
    """Return whether a column counts rows: whole numbers, each once, under such a name.

    Under a name that users give they rise from row to row, or leave out none.
    """
    numbers = np.sort(values)
    if not np.array_equal(numbers, np.round(numbers)) or not np.all(np.diff(numbers) > 0):
        return False
    in_order = np.array_equal(numbers, values) or np.ptp(numbers) == len(numbers) - 1
    return bool(STORED_ROW_NUMBERS.fullmatch(name) or (in_order and ROW_NUMBERS.fullmatch(name)))


def are_times(name: str, values: np.ndarray) -> bool:
    """Return whether a column is a time since 1970, in s, ms, us or ns, by its name and size."""
    low, high = np.abs(values).min(), np.abs(values).max()
    first, last = SECONDS
    in_range = any(first * factor <= low and high <= last * factor for factor in (1, 1e3, 1e6, 1e9))
    return in_range and TIME.search(name) is not None


def repeats(column: np.ndarray, target: np.ndarray, rest: float = REST) -> bool:
    """Return whether a column (row,) is the target to rounding, in another unit or form.

    That is an affine function of the target, its logarithm or exponential to a usual base, or a
    usual power. `rest` is the largest share of the sd that this leaves.
    """
    both = np.isfinite(column) & np.isfinite(target)
    one, other = column[both], target[both]
    relations = (
        (one, other, ()),
        (one, _logarithm(other), BASES),
        (other, _logarithm(one), BASES),
        (_logarithm(one), _logarithm(other), POWERS),
    )
    return any(
        _correlation(x, y) ** 2 > 1 - rest**2
        and (not slopes or bool(np.isclose(np.std(y) / np.std(x), slopes, rtol=2 * REST).any()))
        for x, y, slopes in relations
    )


def _logarithm(values: np.ndarray) -> np.ndarray:
    """Return the logarithm of positive numbers; of others zeros, which correlate with nothing."""
    return np.log(values) if (values > 0).all() else np.zeros_like(values)


def copies_of(target: str, values: np.ndarray, columns: Mapping[str, np.ndarray]) -> dict[str, str]:
    """Return the columns that determine the target (row,) and are no inputs, with the reason.

    A smooth function of one input orders the rows as this input does. Therefore a column is a copy
    if it orders the rows as the target does and contains its name; or if it repeats the target, and
    another column, which orders the rows differently, has to do with the target as well. A leading
    order is a copy only if it is the target itself.
    """
    found: dict[str, str] = {}
    for name, column in columns.items():
        if abs(_rank_correlation(column, values)) <= TIED:
            continue
        is_leading = is_leading_order(name)
        known = repeats(column, values, NOTHING if is_leading else REST)
        is_named = not is_leading and beside_the_name(name, target) is not None
        given = (one for one in columns if one not in (name, *found) and not is_leading_order(one))
        others = (columns[other] for other in given)
        if is_named or (known and (is_leading or _is_explained(values, column, others))):
            found[name] = REPEATS if known else "determines the target"
    return found


def _is_explained(target: np.ndarray, column: np.ndarray, others: Iterable[np.ndarray]) -> bool:
    """Return whether other columns (row,) than this have to do with the target."""
    chance = CHANCE / np.sqrt(len(target))
    return any(
        abs(_rank_correlation(other, column)) <= TIED
        and abs(_rank_correlation(other, target)) > chance
        for other in others
    )


def _rank_correlation(one: np.ndarray, other: np.ndarray) -> float:
    """Return the correlation of the ranks of two columns, in the rows that both have."""
    both = np.isfinite(one) & np.isfinite(other)
    return _correlation(
        *(np.unique(values[both], return_inverse=True)[1] for values in (one, other))
    )


def _correlation(one: np.ndarray, other: np.ndarray) -> float:
    """Return the correlation of two columns; 0 if one is constant or empty."""
    if not all(values.size and np.ptp(values) for values in (one, other)):
        return 0.0
    return float(np.corrcoef(one / np.abs(one).max(), other / np.abs(other).max())[0, 1])


def sentinels(values: np.ndarray) -> np.ndarray:
    """Mark the rows (row,) with numbers that stand for missing ones, by their place and form.

    These are the smallest or the largest number if it is farther from the others than these from
    each other, and repeated in few rows; or if it has a usual form and is as far on the scale of
    logarithms; or if it has a usual form and is the only negative number.
    """
    found = np.zeros(len(values), bool)
    while True:
        distinct, counts = np.unique(values[~found & np.isfinite(values)], return_counts=True)
        if len(distinct) <= FEWEST_OTHERS:
            return found
        ends = ((0, distinct[1:]), (-1, distinct[:-1]))
        most = FEW * len(values)
        odd = [
            distinct[end]
            for end, others in ends
            if _is_usual(distinct[end], others)
            or (1 < counts[end] <= most and _is_beyond(distinct[end], others))
        ]
        if not odd:
            return found
        found |= np.isin(values, odd)


def _is_usual(value: float, others: np.ndarray) -> bool:
    """Return whether a number has a usual form, and is the only negative one or far from others."""
    if USUAL.fullmatch(f"{value:.15g}") is None:
        return False
    if min(value, others.min()) > 0:
        return _is_far(np.log(value), np.log(others))
    return bool(value < 0 < others.min()) or _is_far(value, others)


def _is_beyond(value: float, others: np.ndarray) -> bool:
    """Return whether a number is far from others, also without its sign."""
    low, high = np.abs(others).min(), np.abs(others).max()
    return _is_far(value, others) and not low <= abs(value) <= high


def _is_far(value: float, others: np.ndarray) -> bool:
    return bool(np.min(np.abs(others - value)) > np.ptp(others))
