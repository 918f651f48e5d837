"""What a run learns, numbers or classes, and all that the workflow makes of the difference."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from nlobayes.figures import Of, by_category, names_of, tabulated
from nlobayes.study.datasets import DatasetPreset


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


NUMBERS = Task(
    tables=tabulated(Of.RUNS, Of.NUMBERS, Of.ONE_FEATURE, Of.KNOWN_SCALE),
    figures=by_category(Of.RUNS, Of.NUMBERS),
    has_surrogate=True,
)
CLASSES = Task(
    tables=tabulated(Of.RUNS, Of.CLASSES),
    figures=by_category(Of.RUNS, Of.CLASSES),
    has_surrogate=False,
)


def task_of(dataset: DatasetPreset) -> Task:
    """Tell what is learned from a dataset."""
    return CLASSES if dataset.target.scale == "classes" else NUMBERS


def figures_that_data_allow(dataset: DatasetPreset) -> tuple[str, ...]:
    """List the figures of a run: those of its task, and those that some datasets allow."""
    task = task_of(dataset)
    if task is CLASSES:
        return task.figure_names
    bands = names_of(Of.ONE_FEATURE) if len(dataset.features.columns) == 1 else ()
    scale = names_of(Of.KNOWN_SCALE) if dataset.target.scale_variations else ()
    return (*task.figure_names, *bands, *scale)
