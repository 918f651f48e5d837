"""Points that are accepted with a guarantee, and a program that computes the others."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from nlobayes.artifacts.files import write_text
from nlobayes.errors import InputError
from nlobayes.surrogate.answers import DOMAIN, REASON
from nlobayes.surrogate.domain import INSIDE
from nlobayes.surrogate.surrogate import Surrogate

if TYPE_CHECKING:
    from nlobayes.programs.otherwise import Otherwise

ACCEPTED, SOURCE = "accepted", "source"
"""Columns: 1 for a point that is accepted and else 0, and what its numbers are from."""
BY_SURROGATE, BY_PROGRAM = "surrogate", "program"
NO_LOG10 = "the program gives {}, which has no log10"
Columns = dict[str, tuple[str, np.ndarray]]
"""Unit and cells (point,) of each column by name."""


class Limits(NamedTuple):
    """The largest relative error, the share of accepted points that may exceed it, confidence."""

    max_error: float
    share: float
    confidence: float


class Points(NamedTuple):
    """Points (point, column): the inputs, and what else a program is told, by column."""

    inputs: np.ndarray
    further: np.ndarray


class Written(NamedTuple):
    """How values of the target are written: the name of columns, the factor, whether as log10."""

    name: str
    factor: float
    is_log10: bool


@dataclass
class Counts:
    """Numbers of points: all, accepted ones, and those of the program, stored before or failed."""

    points: int = 0
    accepted: int = 0
    computed: int = 0
    stored: int = 0
    failed: int = 0


@dataclass
class Fallback:
    """Accepts points of a surrogate, and computes the others by a program, if there is one.

    Points that the program has computed are added to the table `new_rows`, if there is one.

    Raises InputError if no threshold keeps the limits, as `Surrogate.threshold`.
    """

    surrogate: Surrogate
    limits: Limits
    otherwise: Otherwise | None = None
    new_rows: Path | None = None
    counts: Counts = field(default_factory=Counts)

    def __post_init__(self) -> None:
        """Find the threshold."""
        max_error, share, confidence = self.limits
        self.threshold = self.surrogate.threshold(max_error, share=share, confidence=confidence)
        self.further = self.otherwise.further(self.surrogate.inputs) if self.otherwise else []
        if self.new_rows is not None:
            _lines_of(self.new_rows, self._header)

    @property
    def _header(self) -> str:
        names = (*self.surrogate.inputs, self.surrogate.target)
        units = (self.surrogate.units.get(name, "").removeprefix("1") for name in names)
        return _line(f"{n}:{u}" if u else n for n, u in zip(names, units, strict=True))

    def replace(self, found: Columns, points: Points, written: Written) -> np.ndarray:
        """Add to the columns of predictions whether each is accepted, and replace the others.

        Returns which points (point,) the program has computed. If it failed, their numbers are NaN,
        and the reason says why.
        """
        with np.errstate(all="ignore"):
            stated = self.surrogate.stated_errors(points.inputs)
        accepted = self.threshold.accepts(stated, found[DOMAIN][1])
        found[ACCEPTED] = ("", accepted.astype(int))
        for row in np.flatnonzero(~accepted & (found[DOMAIN][1] == INSIDE)):
            why = f"states an error of {100 * stated[row]:.3g} %"
            found[REASON][1][row] = found[REASON][1][row] or why
        self.counts.points += len(accepted)
        self.counts.accepted += int(accepted.sum())
        if self.otherwise is None:
            return np.zeros(len(accepted), bool)
        known = np.isfinite(np.column_stack(points)).all(axis=1)
        sent = ~accepted & known
        found[SOURCE] = ("", np.where(sent, BY_PROGRAM, BY_SURROGATE).astype(object))
        if sent.any():
            self._compute(found, points, written, sent)
        return sent

    def _compute(self, found: Columns, points: Points, written: Written, sent: np.ndarray) -> None:
        """Compute the points that are `sent` (point,)."""
        assert self.otherwise is not None
        names = (*self.surrogate.inputs, *self.further)
        rows = np.column_stack(points)[sent]
        made = self.otherwise.compute(dict(zip(names, rows.T, strict=True)))
        values, reasons = made.values * written.factor, np.array(made.reasons, object)
        if written.is_log10:
            with np.errstate(all="ignore"):
                values = np.where(made.values > 0, np.log10(made.values), np.nan)
            for place in np.flatnonzero(made.values <= 0):
                reasons[place] = NO_LOG10.format(made.values[place])
        good = np.isfinite(values)
        for name, (unit, cells) in found.items():
            if cells.dtype.kind == "f":
                of_program = name in (f"{written.name}_median", f"{written.name}_mean")
                found[name] = (unit, replaced := cells.copy())
                replaced[sent] = values if of_program else np.nan
        found[REASON][1][np.flatnonzero(sent)[~good]] = reasons[~good]
        self.counts.computed += len(good)
        self.counts.stored += int(made.stored.sum())
        self.counts.failed += int((~good).sum())
        if self.new_rows is not None:
            inputs = rows[:, : len(self.surrogate.inputs)]
            self._keep(np.column_stack([inputs, made.values])[np.isfinite(made.values)])

    def _keep(self, rows: np.ndarray) -> None:
        """Add rows to the table, without those that it has."""
        assert self.new_rows is not None
        before = _lines_of(self.new_rows, self._header)
        lines = dict.fromkeys([*before, *(_line(map(repr, row)) for row in rows.tolist())])
        write_text(self.new_rows, "\n".join([self._header, *lines, ""]))

    def in_words(self) -> str:
        """Say how many points were accepted, by which guarantee, and what became of others."""
        counts, guarantee = self.counts, self.threshold.in_words(*self.limits)
        words = f"{counts.accepted} of {counts.points} points are accepted; {guarantee}"
        if self.otherwise is None:
            return words
        return (
            f"{words}; others that the program computes: {counts.computed}, of which "
            f"{counts.stored} were stored before and {counts.failed} failed"
        )


def _line(cells: Iterable[str]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="").writerow(cells)
    return text.getvalue()


def _lines_of(path: Path, header: str) -> list[str]:
    """Return the rows of a table of new rows; none if there is no file.

    Raises InputError if the file has another header.
    """
    try:
        first, *lines = path.read_text("utf-8").splitlines() if path.exists() else [header]
    except (OSError, ValueError) as error:
        raise InputError("commands.no_new_rows", where=path, reason=str(error)) from None
    if first != header:
        raise InputError("commands.other_new_rows", where=path, found=first, header=header)
    return lines


def share_of(text: str, option: str) -> float:
    """Read a share as `1%` or `0.01`.

    Raises InputError if it is no number between 0 and 1.
    """
    number = text.strip().removesuffix("%")
    try:
        share = float(number) / (100 if number != text.strip() else 1)
    except ValueError:
        share = 0.0
    if not 0 < share < 1:
        raise InputError("commands.no_share", where=option, text=text)
    return share
