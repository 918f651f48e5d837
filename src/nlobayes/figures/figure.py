"""The definition of a figure: the kind of artifact it belongs to, its tables and its function."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import NamedTuple


class FigureKind(StrEnum):
    """Kind of artifact that a figure belongs to."""

    RUNS = "every run"
    CHAINS = "runs of chains"
    NUMBERS = "runs of numbers"
    CLASSES = "runs of classes"
    PLANES = "runs of classes with two inputs"
    IMAGES = "runs of classes of images"
    ONE_FEATURE = "runs of numbers with one feature"
    DRAWN_SIZES = "runs whose network size is drawn"
    KNOWN_SCALE = "runs of numbers whose scale uncertainty is known"
    DATA = "datasets of runs with figures"
    MAPS = "models with the MAPs that span a plane"
    PRIORS = "models whose prior is drawn"
    GRIDS = "grids of several runs"
    SETTINGS = "grids of several settings"
    PULLS = "grids of several settings of numbers"
    SPEED = "grids that are timed"
    ROUNDS = "programs that are called in rounds"
    APPROXIMATED = "models with chains and approximations beside them"


class Figure(NamedTuple):
    """One figure."""

    name: str
    """Name of its files, and of its caption."""
    category: str
    """Section of the report."""
    kind: FigureKind
    """Kind of artifact that it belongs to."""
    drawn_by: str
    """Module and function in `nlobayes.plots`; the function takes the tables in their order."""
    tables: Mapping[str, str]
    """The tables that it is drawn from, and the columns that it needs of each. Columns that may
    lack values end in `?`; `*` takes the table as it is."""
