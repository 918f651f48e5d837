"""What a run learns, numbers or classes, and all that the workflow makes of the difference."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from nlobayes.study.presets import DatasetPreset
from nlobayes.workflow.figures import FIGURES, FIGURES_OF_CLASSES, TABLES, TABLES_OF_CLASSES


@dataclass(frozen=True)
class Task:
    """The tables and the figures of a run, and whether it has a surrogate."""

    tables: tuple[str, ...]
    figures: Mapping[str, tuple[str, ...]]
    """Names of figures by their part of the report."""
    has_surrogate: bool

    @property
    def figure_names(self) -> tuple[str, ...]:
        """The figures of all parts."""
        return tuple(name for names in self.figures.values() for name in names)


NUMBERS = Task(tables=TABLES, figures=FIGURES, has_surrogate=True)
CLASSES = Task(tables=TABLES_OF_CLASSES, figures=FIGURES_OF_CLASSES, has_surrogate=False)


def task_of(dataset: DatasetPreset) -> Task:
    """Tell what is learned from a dataset."""
    return CLASSES if dataset.target.scale == "classes" else NUMBERS


def figures_that_data_allow(dataset: DatasetPreset) -> tuple[str, ...]:
    """List the figures of a run: those of its task, and those that some datasets allow."""
    task = task_of(dataset)
    if task is CLASSES:
        return task.figure_names
    bands = ("bands",) if len(dataset.features.columns) == 1 else ()
    scale = ("scale_ratio",) if dataset.target.scale_variations else ()
    return (*task.figure_names, *bands, *scale)
