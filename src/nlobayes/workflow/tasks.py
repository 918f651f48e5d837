"""Tasks of runs, numbers or classes, with the tables and figures of each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from nlobayes.figures import FigureKind, by_category, names_of, tabulated
from nlobayes.study.datasets import DatasetPreset


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
