"""The scores by which runs are compared: which of them a table holds, and names of settings."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from pandas import DataFrame
from pandas.api.types import is_numeric_dtype

from nlobayes.errors import InputError
from nlobayes.metrics import Shown, shown_in
from nlobayes.plots.tables import floats

LONGEST_NAME = 24


ERRORS = ("rmse_log10", "rmse_target")
SCANNED, COMPARED = shown_in(Shown.SCAN), shown_in(Shown.FOREST)


def present(wanted: Sequence[str], available: Sequence[str]) -> list[str]:
    """Scores to draw, in the requested order; one root mean square error is enough.

    Raises
    ------
    InputError
        If there is none.
    """
    metrics = [name for name in wanted if name in available]
    if set(ERRORS) <= set(metrics):
        metrics.remove("rmse_target")
    if not metrics:
        raise InputError("plots.no_score", wanted=wanted)
    return metrics


def finite(table: DataFrame, column: str) -> NDArray[np.bool_]:
    """Where a column holds finite numbers: nowhere if it is missing or holds words."""
    if column not in table or not is_numeric_dtype(table[column]):
        return np.zeros(len(table), dtype=np.bool_)
    return np.isfinite(floats(table, column))


def short_names(settings: Sequence[str]) -> list[str]:
    """Names without the parts that all share, cut in the middle where they are too long."""
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
    """Name with its middle left out, if it is too long for an axis."""
    half = LONGEST_NAME // 2
    return name if len(name) <= LONGEST_NAME else f"{name[: half - 1]}…{name[-half:]}"
