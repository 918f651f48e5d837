"""The scores of a table by which runs are compared, and short names of settings."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from pandas import DataFrame
from pandas.api.types import is_numeric_dtype

from nlobayes.errors import InputError
from nlobayes.metrics import ComparisonPlace, shown_in
from nlobayes.plots.tables import floats

LONGEST_NAME = 24


ERRORS = ("rmse_log10", "rmse_target")
SCANNED, COMPARED = shown_in(ComparisonPlace.SCAN), shown_in(ComparisonPlace.FOREST)


def present(requested: Sequence[str], available: Sequence[str]) -> list[str]:
    """List the scores to draw, in the requested order, with only one root mean square error.

    Raises InputError if there is none.
    """
    metrics = [name for name in requested if name in available]
    if set(ERRORS) <= set(metrics):
        metrics.remove("rmse_target")
    if not metrics:
        raise InputError("plots.no_score", allowed=requested)
    return metrics


def finite(table: DataFrame, column: str) -> NDArray[np.bool_]:
    """Mark the finite numbers of a column; none if it is missing or a text."""
    if column not in table or not is_numeric_dtype(table[column]):
        return np.zeros(len(table), dtype=np.bool_)
    return np.isfinite(floats(table, column))


def short_names(settings: Sequence[str]) -> list[str]:
    """Return names without the parts that all share, shortened in the middle if too long."""
    parts = [setting.split("/") for setting in settings]
    if len(parts) > 1 and len({len(part) for part in parts}) == 1:
        kept = [names for names in zip(*parts, strict=True) if len(set(names)) > 1]
        parts = [list(part) for part in zip(*kept, strict=True)]
    short = [cut("/".join(part)) for part in parts]
    return [
        name if short.count(name) == 1 else f"{number}: {name}"
        for number, name in enumerate(short, start=1)
    ]


def cut(name: str) -> str:
    """Leave out the middle of a name that is too long for an axis."""
    half = LONGEST_NAME // 2
    return name if len(name) <= LONGEST_NAME else f"{name[: half - 1]}…{name[-half:]}"
