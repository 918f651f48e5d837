"""Names of the axes of a figure, from the one-row table `labels`, and their scales."""

from textwrap import wrap
from typing import Literal, NamedTuple

import numpy as np
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from pandas import DataFrame, isna

from nlobayes.plots.style import Floats, new_figure, spread_log_labels

LOG10 = r"$\log_{10}$"
SYMBOLS = {"sigma": "σ"}
WIDE_RANGE = 20
CROWDED = 0.25
"""Share of a linear axis; if half of the values lie in less, the axis is logarithmic."""


class Labels(NamedTuple):
    """Names of covariate and target; the model scale is log10 of the target or the target."""

    covariate: str
    target: str
    unit: str
    is_log10: bool

    @property
    def model_axis(self) -> str:
        """Target on the model scale, with its unit."""
        if not self.is_log10:
            return self.target_axis
        return f"{LOG10}({self.target} / {self.unit})" if self.unit else f"{LOG10} {self.target}"

    @property
    def model_target(self) -> str:
        """Target on the model scale, without unit."""
        return f"{LOG10} {self.target}" if self.is_log10 else self.target

    @property
    def model_unit(self) -> str:
        """Unit of differences on the model scale; empty if the target has none."""
        return "dex" if self.is_log10 else self.unit

    @property
    def target_axis(self) -> str:
        """Target itself, with its unit."""
        return with_unit(self.target, self.unit)


def read_labels(table: DataFrame) -> Labels:
    """Read names from the one-row table with columns covariate, target, unit and scale."""
    row = {name: "" if isna(value) else str(value) for name, value in table.iloc[0].items()}
    # Names are text: matplotlib must not take a dollar sign for the start of a formula.
    covariate, target, unit = (row[name].replace("$", r"\$") for name in _TEXTS)
    bare = target.removesuffix(f"_{unit}")
    return Labels(covariate, SYMBOLS.get(bare, bare), unit, row["scale"] == "log10")


_TEXTS = ("covariate", "target", "unit")


def with_unit(name: str, unit: str) -> str:
    """Return the name of an axis with its unit, if there is one."""
    return f"{name} ({unit})" if unit else name


def narrow(label: str, width: int = 24) -> str:
    """Break a label into lines of at most `width` characters, which fit one of three panels."""
    return "\n".join(wrap(label, width, break_long_words=False))


def note_figure(note: str) -> Figure:
    """Return a figure that states why there is nothing to draw."""
    figure = new_figure(height=1.0)
    figure.suptitle(note, y=0.6, fontsize=9)
    return figure


def fitting_scale(values: Floats) -> Literal["linear", "log"]:
    """Choose `log` for positive values that span a factor of 20 or cluster at the low end."""
    low, high = np.min(values), np.max(values)
    crowded = np.median(values) - low < CROWDED * (high - low) and high > 2 * low
    return "log" if low > 0 and (high > WIDE_RANGE * low or crowded) else "linear"


def few_ticks(axis: Axis, count: int = 4, *, least: int = 1) -> None:
    """Label the axis of a narrow panel with about `least` to `count` ticks without collisions."""
    if axis.get_scale() == "log":
        spread_log_labels(axis)
    else:
        axis.set_major_locator(MaxNLocator(count, steps=[1, 2, 2.5, 5, 10], min_n_ticks=least))


def widen(axis: Axis, least: float) -> None:
    """Make an axis span at least this share of its largest value: less would magnify noise."""
    low, high = axis.get_view_interval()
    lacking = least * max(abs(low), abs(high)) - (high - low)
    if lacking > 0:
        axis.set_view_interval(low - lacking / 2, high + lacking / 2, ignore=True)
