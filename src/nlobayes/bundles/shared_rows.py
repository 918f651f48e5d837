"""Errors of sums of cross sections at the validation rows that surrogates of a bundle share.

Draws of a sum assume that the errors of its processes are independent, and that the interval of
each process is right wherever this process is the largest. Neither holds exactly. The interval is
therefore multiplied by the factor with which it covers the sums at the shared rows. This is
split-conformal prediction with errors in units of the width (Lei et al. 2018, Journal of the
American Statistical Association 113, 1094, sections 2.2 and 5.2), except that the noise of each
surrogate was fitted to the same rows.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from nlobayes.errors import InputError
from nlobayes.untyped import Document

FEWEST_ROWS = 40
MOST_ROWS = 2000
COVERED = 0.68
"""Probability of an interval from the 16 % to the 84 % quantile."""
FIELDS = ("surrogates", "error_pb", "half_width_pb")
_DIGITS = 6


class SharedRows(NamedTuple):
    """Errors of surrogates, and half widths of their 68 % intervals, with the names of their files.

    Both arrays have axes (surrogate, row) and are in pb. A row is the same spectrum for all
    surrogates.
    """

    files: tuple[str, ...]
    errors: np.ndarray
    half_widths: np.ndarray


def widening(shared: Iterable[SharedRows], files: Sequence[str]) -> float:
    """Return the factor on the 68 % interval of the sum of surrogates: 1 or more, 1 if unknown."""
    known = next((rows for rows in shared if {*files} <= {*rows.files}), None)
    if known is None:
        return 1.0
    places = [known.files.index(file) for file in files]
    errors = np.abs(known.errors[places].sum(axis=0))
    ratios = errors / np.linalg.norm(known.half_widths[places], axis=0)
    return max(1.0, float(np.quantile(ratios, COVERED, method="weibull")))


def as_mapping(rows: SharedRows) -> Document:
    """Return shared rows as the index of a bundle stores them."""
    numbers = (
        [[float(f"{value:.{_DIGITS}g}") for value in row] for row in each] for each in rows[1:]
    )
    return dict(zip(FIELDS, [[*rows.files], *numbers], strict=True))


def read_rows(given: Any, files: Sequence[str], where: str) -> SharedRows:
    """Read shared rows from an index, which may come from an unknown source.

    Raises InputError if they name surrogates that are not in the index, or are no tables of finite
    numbers.
    """
    if not _are_rows(given, files):
        raise InputError("bundles.shared_rows", where=where)
    named, errors, half_widths = (given[name] for name in FIELDS)
    return SharedRows(tuple(named), np.array(errors), np.array(half_widths))


def _are_rows(given: Any, files: Sequence[str]) -> bool:
    if not isinstance(given, dict) or given.keys() != {*FIELDS}:
        return False
    named, *tables = (given[name] for name in FIELDS)
    if not all(isinstance(each, list) and len(each) == len(named) > 0 for each in (named, *tables)):
        return False
    rows = [row if isinstance(row, list) else [] for table in tables for row in table]
    values = [value for row in rows for value in row]
    return (
        all(file in files for file in named)
        and len({*map(len, rows)}) == 1
        and FEWEST_ROWS <= len(rows[0]) <= MOST_ROWS
        and all(type(value) is float and math.isfinite(value) for value in values)
        and all(value > 0 for row in rows[len(named) :] for value in row)
    )
