"""The definition of a score: its names, its unit, what is better, and where it is shown."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

LOWER, HIGHER = "lower", "higher"
SPLITS = ("train", "val", "test")


class MetricKind(StrEnum):
    """Kind of result that a score rates."""

    NUMBERS = "predicted numbers"
    CLASSES = "predicted classes"
    LIKELIHOOD = "the likelihood"
    SAMPLING = "the sampling"
    FIDELITY = "approximations, relative to the exact posterior"


class ComparisonPlace(StrEnum):
    """Place where runs are compared by a score."""

    SCAN = "the figure of a scan"
    FOREST = "the figure of differences"
    PAIRED = "the table of differences"


class Column(NamedTuple):
    """A column of the summary: the scores of one title replace each other.

    `place` orders the columns. Rank 0 is always shown, and the highest is left out first. `first`
    columns are on the first page of the report, too.
    """

    title: str
    form: str
    place: int
    rank: int = 0
    first: bool = True


class Axis(NamedTuple):
    """The axis of a score in figures.

    `scale` is linear, log, or fitting (whichever fits the values). `span` is the share of the
    largest value that the axis spans at least. `limit` is a value not to exceed.
    """

    scale: str = "linear"
    span: float = 0.2
    limit: float | None = None


class Metric(NamedTuple):
    """One score."""

    key: str
    """Its key in JSON files and its column in tables."""
    kind: MetricKind
    """Kind of result that it rates."""
    label: str
    """Its name in figures and reports."""
    unit: str = ""
    """Its unit as it is shown; shares are shown in %."""
    better: str | float | None = None
    """`lower`, `higher`, or the nominal value; None where neither is better."""
    beside: tuple[str, ...] = ()
    """Suffixes of related keys: ends of its interval, or its standard error."""
    splits: tuple[str, ...] = SPLITS
    """Splits that have it; empty for a score that belongs to no split."""
    shown: frozenset[ComparisonPlace] = frozenset()
    """Where runs are compared by it."""
    axis: Axis = Axis()
    """How it is drawn."""
    column: Column | None = None
    """Its column of the summary, if any."""

    @property
    def title(self) -> str:
        """Label with unit."""
        return f"{self.label} ({self.unit})" if self.unit else self.label

    @property
    def percent(self) -> bool:
        """Whether a share is shown in %."""
        return self.unit == "%"

    @property
    def direction(self) -> str:
        """Whether `lower` or `higher` is better; empty where neither is."""
        return self.better if isinstance(self.better, str) else ""

    @property
    def line(self) -> float | None:
        """The value to reach, or not to exceed, as it is shown."""
        if isinstance(self.better, float):
            return 100.0 * self.better if self.percent else self.better
        return self.axis.limit

    @property
    def keys(self) -> tuple[str, ...]:
        """Its key, and the related keys."""
        return (self.key, *(f"{self.key}{suffix}" for suffix in self.beside))
