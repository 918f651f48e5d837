"""The figures and tables of the rules, and those of a task: numbers or classes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from nlobayes.figures import (
    OF_EVERY_RUN,
    VERDICTS,
    FigureKind,
    by_category,
    names_of,
    tables_of,
    tabulated,
)
from nlobayes.study.datasets import DatasetPreset

CHAIN_FIGURES = by_category(FigureKind.CHAINS)
TABLES_BESIDE_CHAINS = OF_EVERY_RUN
"""Tables that figures of chains need in addition to their own."""
SIZE_FIGURES = by_category(FigureKind.DRAWN_SIZES)
(PRIOR,) = names_of(FigureKind.PRIORS)
(FIDELITY,) = names_of(FigureKind.APPROXIMATED)
(ROUNDS,) = names_of(FigureKind.ROUNDS)
(DATA,) = names_of(FigureKind.DATA)
DATA_TABLES = tables_of(FigureKind.DATA)
LANDSCAPE_FIGURES = names_of(FigureKind.MAPS)
LANDSCAPE_TABLES = tables_of(FigureKind.MAPS)
PRIOR_TABLES = tables_of(FigureKind.PRIORS)
SCANS, SETTINGS, PULLS = (
    names_of(kind) for kind in (FigureKind.GRIDS, FigureKind.SETTINGS, FigureKind.PULLS)
)
"""Figures of any grid, of one of several settings, and of one of several settings of numbers."""
SETTING_TABLES, PULL_TABLES = (tables_of(kind) for kind in (FigureKind.SETTINGS, FigureKind.PULLS))
COMPARED = ("scanned", *SETTING_TABLES, *PULL_TABLES)
"""Tables of a comparison, except that of the runs."""
BAND_TABLES = (*VERDICTS, *tables_of(FigureKind.ONE_FEATURE))
PLANE_TABLES = (*VERDICTS, *tables_of(FigureKind.PLANES))
IMAGE_TABLES = (*VERDICTS, *tables_of(FigureKind.IMAGES))
VERDICTS_OF_RUN = dict(zip(("--verdict", "--calibration"), VERDICTS, strict=True))
"""The option of `plot` that takes each verdict."""


@dataclass(frozen=True)
class Task:
    """The tables and the figures of the runs of a task."""

    tables: tuple[str, ...]
    figures: Mapping[str, tuple[str, ...]]
    """Names of figures by part of the report."""

    @property
    def figure_names(self) -> tuple[str, ...]:
        """The figures of all parts."""
        return tuple(name for names in self.figures.values() for name in names)


NUMBERS = Task(
    tables=tabulated(
        FigureKind.RUNS, FigureKind.NUMBERS, FigureKind.ONE_FEATURE, FigureKind.KNOWN_SCALE
    ),
    figures=by_category(FigureKind.RUNS, FigureKind.NUMBERS),
)
KNOWN_SCALE = Task(
    tables=NUMBERS.tables,
    figures=by_category(FigureKind.RUNS, FigureKind.NUMBERS, FigureKind.KNOWN_SCALE),
)
"""Numbers whose scale uncertainty is known."""
CLASSES = Task(
    tables=tabulated(FigureKind.RUNS, FigureKind.CLASSES, FigureKind.PLANES, FigureKind.IMAGES),
    figures=by_category(FigureKind.RUNS, FigureKind.CLASSES),
)


PLANE = 2
"""Number of inputs for which the certainty of classes is shown on a plane."""


def task_of(dataset: DatasetPreset) -> Task:
    """Return the task of a dataset."""
    return CLASSES if dataset.target.scale == "classes" else NUMBERS


def figures_that_data_allow(dataset: DatasetPreset) -> tuple[str, ...]:
    """List the figures of a run: those of its task, and those for particular datasets."""
    task = task_of(dataset)
    if task is CLASSES:
        plane = names_of(FigureKind.PLANES) if len(dataset.features.columns) == PLANE else ()
        images = names_of(FigureKind.IMAGES) if dataset.image is not None else ()
        return (*task.figure_names, *plane, *images)
    bands = names_of(FigureKind.ONE_FEATURE) if len(dataset.features.columns) == 1 else ()
    scale = names_of(FigureKind.KNOWN_SCALE) if dataset.target.scale_variations else ()
    return (*task.figure_names, *bands, *scale)
