"""Theory errors of a cross section as ratios to it, which vary slowly with the inputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np


def ratios(columns: np.ndarray) -> np.ndarray:
    """Divide all columns (row, column) except the first by the first.

    The ratios are not finite if the first column is zero; targets on a log scale are checked later.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.column_stack([columns[:, 0], columns[:, 1:] / columns[:, :1]])


def name_of_ratio(column: str, central: str) -> str:
    """Name the ratio of a column to the central value."""
    return f"{column}_over_{central}"


def ratios_by_source(by_source: Mapping[str, Sequence[str]], central: str) -> dict[str, list[str]]:
    """Name the ratios of the columns of each source."""
    return {
        source: [name_of_ratio(column, central) for column in columns]
        for source, columns in by_source.items()
    }
