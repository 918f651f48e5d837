"""The scores by which runs are compared: their names, axes, and which a table holds."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from pandas import DataFrame
from pandas.api.types import is_numeric_dtype

from nlobayes.errors import InputError
from nlobayes.plots.tables import floats

LONGEST_NAME = 24


class Metric(NamedTuple):
    """How one score of the runs is named and drawn."""

    label: str
    better: str = ""
    scale: str = "linear"
    """Of its axis: linear, log, or fitting (whichever fits the values)."""
    line: float | None = None
    """Value to reach, or not to exceed."""
    percent: bool = False
    span: float = 0.2
    """Share of the largest value that its axis spans at least."""


METRICS = {
    "r2_log10": Metric("R² of log₁₀ target", "higher", span=0.01),
    "r2_target_mean": Metric("R² of target", "higher", span=0.01),
    "r2_target_median": Metric("R² of target, median", "higher", span=0.01),
    "rmse_log10": Metric("RMSE (dex)", "lower", "fitting"),
    "rmse_target": Metric("RMSE (target's unit)", "lower", "fitting"),
    "accuracy": Metric("accuracy (%)", "higher", percent=True),
    "brier": Metric("Brier score", "lower"),
    "ece": Metric("calibration error (%)", "lower", percent=True),
    "crps": Metric("CRPS (model scale)", "lower"),
    "lppd": Metric("log score (nats per point)", "higher"),
    "coverage_95": Metric("95 % coverage (%)", line=95.0, percent=True, span=0.1),
    "rhat_f_p99": Metric(r"$\hat{R}$, 99 % quantile", scale="log", line=1.05, span=0.05),
    "gradients_per_draw": Metric("gradients per draw", scale="fitting"),
    "acceptance_rate": Metric("acceptance rate"),
}
ERRORS = ("rmse_log10", "rmse_target")
SAMPLING = ("rhat_f_p99", "gradients_per_draw", "acceptance_rate")
CLASSES = ("accuracy", "brier", "ece")
SCANNED = ("r2_log10", "r2_target_mean", *ERRORS, *CLASSES, "coverage_95", *SAMPLING)
COMPARED = ("r2_log10", "r2_target_median", *ERRORS, *CLASSES, "crps", "lppd", "coverage_95")


def present(wanted: Sequence[str], available: Sequence[str]) -> list[str]:
    """Scores to draw, in the wanted order; one root mean square error is enough.

    Raises
    ------
    InputError
        If there is none.
    """
    metrics = [name for name in wanted if name in available]
    if set(ERRORS) <= set(metrics):
        metrics.remove("rmse_target")
    if not metrics:
        raise InputError(
            f"the comparison has no finite score to draw, it needs one of {', '.join(wanted)}; "
            "evaluate the runs first"
        )
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
