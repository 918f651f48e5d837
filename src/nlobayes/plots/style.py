"""The house style: colours, empty figures, and image files that depend only on the figure."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from io import BytesIO
from math import ceil
from typing import Literal

import matplotlib.style
import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator, MaxNLocator, NullFormatter
from numpy.typing import NDArray

from nlobayes.errors import InputError

Floats = NDArray[np.float64]
Place = Literal["outside upper left", "outside upper center", "outside upper right"]

BLUE, VERMILLION, GREEN, PURPLE = "#0072B2", "#D55E00", "#009E73", "#CC79A7"
ORANGE, SKY, BLACK = "#E69F00", "#56B4E9", "#000000"
RED = "#C00000"
"""Colour of failures, always with a word."""

GREY = "#606060"
"""Colour of the name of a figure."""

CHAIN_COLORS = (BLUE, VERMILLION, GREEN, PURPLE, ORANGE, SKY, BLACK)
SPLIT_COLORS = {"train": SKY, "val": ORANGE, "test": BLUE}
LEGEND_WIDTH = 90
"""Characters that fit into a row of a legend."""

LINE_HEIGHT = 0.17
"""Height of a line of a legend, in inches."""

UNCERTAINTY_COLORS = {"total": BLUE, "epistemic": VERMILLION}

# Dates and versions would make files of equal figures differ.
METADATA: dict[str, dict[str, None]] = {"svg": {"Date": None}, "png": {"Software": None}}


def house_style() -> AbstractContextManager[None]:
    """Set Matplotlib's defaults plus ours, independent of the user's settings."""
    return matplotlib.style.context("nlobayes.plots.nlobayes", after_reset=True)


def new_figure(*, height: float) -> Figure:
    """Create an empty figure of column width (6.4 in) and `height` in inches, with a layout."""
    return Figure(figsize=(6.4, height), layout="constrained")


def chain_color(chain: int) -> str:
    """Return the colour of a chain: the same in every figure; it repeats after seven chains."""
    return CHAIN_COLORS[chain % len(CHAIN_COLORS)]


def legend_above(
    figure: Figure, *named: Axes, place: Place = "outside upper center", columns: int = 5
) -> None:
    """Draw the legend of some axes above all panels, where it covers no data."""
    keys = [key for axes in named for key in zip(*axes.get_legend_handles_labels(), strict=True)]
    handles, labels = zip(*keys, strict=True)
    figure.legend(handles, labels, loc=place, ncols=min(len(labels), columns))


def legend_with_warnings(
    figure: Figure, keys: Sequence[Line2D], warnings: Sequence[str] = ()
) -> None:
    """Draw keys above all panels, with the warnings in red; the figure grows by their height."""
    longest = max(len(str(key.get_label())) for key in keys)
    columns = max(1, min(len(keys), LEGEND_WIDTH // (longest + 7)))
    legend = figure.legend(
        handles=list(keys),
        loc="outside upper center",
        ncols=columns,
        title="\n".join(warnings) or None,
        title_fontsize=8,
    )
    legend.get_title().set_color(RED)
    lines = ceil(len(keys) / columns) + len(warnings)
    figure.set_figheight(figure.get_figheight() + LINE_HEIGHT * lines)


def spread_log_labels(axis: Axis) -> None:
    """Label a logarithmic axis so that labels neither vanish nor collide on a short axis."""
    low, high = axis.get_view_interval()
    if high / low < 100:
        few, between = high / low < 6, (2, 5) if low > 1e-3 else (3,)  # labels as 3e-05 are wide
        axis.set_major_locator(MaxNLocator(4) if few else LogLocator(subs=(1, *between)))
        axis.set_major_formatter("{x:g}")
        axis.set_minor_formatter(NullFormatter())


def reference_line(axes: Axes, *, y: float) -> None:
    """Draw a thin black horizontal line at the value of a perfect result."""
    axes.axhline(y, color=BLACK, linewidth=0.8, zorder=0.5)


def density(
    axes: Axes, values: Floats, edges: Floats, *, color: str, label: str, filled: bool = False
) -> None:
    """Draw a density whose first and last bin include the values beyond the axis."""
    axes.hist(
        np.clip(values, edges[0], edges[-1]),
        edges.tolist(),
        density=True,
        histtype="stepfilled" if filled else "step",
        color=color,
        alpha=0.4 if filled else 1,
        linewidth=0 if filled else 1.4,
        label=label,
    )


def points(axes: Axes, x: Floats, y: Floats, *, color: str, label: str = "") -> None:
    """Draw a cloud of small translucent points, stored as one image so that files stay small."""
    opacity = float(np.clip(300 / max(len(x), 1), 0.25, 0.9))
    axes.plot(
        x, y, ".", color=color, markersize=3.5, alpha=opacity, markeredgewidth=0, rasterized=True
    )
    axes.plot([], [], "o", color=color, markersize=3.5, label=label or "_")


def points_within(
    axes: Axes, x: Floats, y: Floats, *, limit: float, color: str, label: str = ""
) -> None:
    """Draw points on a vertical axis of +-`limit`; those beyond are triangles at its edge."""
    beyond = np.abs(y) > limit
    points(axes, x[~beyond], y[~beyond], color=color, label=label)
    for marker, side in (("^", 1), ("v", -1)):
        there = x[beyond & (side * y > 0)]
        edge = np.full(len(there), 0.97 * limit * side)
        axes.plot(there, edge, marker, color=color, markersize=3.5, markeredgewidth=0)
    if beyond.any():
        axes.plot([], [], "^", color=color, markersize=3.5, label=f"{beyond.sum()} beyond the axis")
    axes.set_ylim(-limit, limit)


def symmetric_limit(values: Floats) -> float:
    """Return the half-height of an axis around zero that shows the bulk (98.5 %) with a margin."""
    return 1.4 * float(np.quantile(np.abs(values), 0.985)) or 1.0


def render(figure: Figure, format: str) -> bytes:
    """Return the contents of an image file: equal figures give equal bytes, without date or host.

    Raises InputError if the format is neither.

    Parameters
    ----------
    figure
        A figure from `nlobayes.plots.FIGURES`.
    format
        "svg" or "png".
    """
    if format not in METADATA:
        raise InputError("plots.unknown_format", format=format, known=sorted(METADATA))
    buffer = BytesIO()
    with house_style():
        figure.savefig(buffer, format=format, metadata=METADATA[format])
    return buffer.getvalue()
