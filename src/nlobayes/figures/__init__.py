"""The list of all figures: their tables, their functions, and the kinds of artifact that have them.

Planning reads it too, so this package imports no library. The caption of a figure is the file of
its name in `workflow/report/`.
"""

from __future__ import annotations

from nlobayes.figures.figure import Figure, FigureKind
from nlobayes.figures.of_runs import OF_RUNS
from nlobayes.figures.of_studies import OF_STUDIES

ALL: tuple[Figure, ...] = (*OF_RUNS, *OF_STUDIES)

VERDICTS = ("verdict", "calibration_checks")
"""Tables of a run whose failures are marked on every figure of it."""
OF_EVERY_RUN = (*VERDICTS, "labels")
"""Tables that every run has, independent of its figures."""
BESIDE_CHAINS = ("quantities",)
"""Tables of chains that no figure shows."""
FROM_THINNING = ("thinning",)
"""Tables that are written when draws are thinned, not with the other tables."""


def tabulated_of_sizes() -> tuple[str, ...]:
    """Name the tables that are written only for runs whose network size is drawn."""
    return tuple(t for t in tables_of(FigureKind.DRAWN_SIZES) if t not in OF_EVERY_RUN)


def names_of(*kinds: FigureKind) -> tuple[str, ...]:
    """Name the figures of some kinds of artifact, in the order of the list."""
    return tuple(figure.name for figure in ALL if figure.kind in kinds)


def by_category(*kinds: FigureKind) -> dict[str, tuple[str, ...]]:
    """Name the figures of some kinds of artifact, by the section of the report."""
    found: dict[str, tuple[str, ...]] = {}
    for figure in ALL:
        if figure.kind in kinds:
            found[figure.category] = (*found.get(figure.category, ()), figure.name)
    return found


def tables_of(*kinds: FigureKind) -> tuple[str, ...]:
    """Name the tables of the figures of some kinds of artifact, each once."""
    return tuple(dict.fromkeys(t for figure in ALL if figure.kind in kinds for t in figure.tables))


def tabulated(*kinds: FigureKind) -> tuple[str, ...]:
    """Name the tables that are written for the figures of a run, and those that every run has."""
    return tuple(dict.fromkeys((*tables_of(*kinds), *OF_EVERY_RUN)))


def tabulated_of_chains() -> tuple[str, ...]:
    """Name the tables that are written only for chains, with and without a figure."""
    elsewhere = (*OF_EVERY_RUN, *FROM_THINNING)
    return (*(t for t in tables_of(FigureKind.CHAINS) if t not in elsewhere), *BESIDE_CHAINS)
