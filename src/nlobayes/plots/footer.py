"""The footer of every figure: the name of the run, and in red its failed checks."""

import textwrap
from collections.abc import Sequence

from matplotlib.figure import Figure

from nlobayes.plots.style import GREY, RED

WIDTH = 110
"""Characters that fit below a figure."""

FONT_SIZE, LINE_HEIGHT, MARGIN = 7.0, 0.14, 0.04
"""Size of the text in points; height of a line and margin in inches."""


def write_footer(figure: Figure, name: str, warnings: Sequence[str]) -> None:
    """Write `name` in grey at the foot of the figure, above it `warnings` in red.

    The figure grows by the height of the text, so that its panels keep theirs.
    """
    lines = [(line, RED) for warning in warnings for line in textwrap.wrap(warning, WIDTH)]
    lines += [(line, GREY) for line in textwrap.wrap(name, WIDTH)]
    if not lines:
        return
    strip = 2 * MARGIN + LINE_HEIGHT * len(lines)
    height = figure.get_figheight() + strip
    figure.set_figheight(height)
    figure.set_layout_engine("constrained", rect=(0, strip / height, 1, 1 - strip / height))
    for rows_below, (line, color) in zip(reversed(range(len(lines))), lines, strict=True):
        y = (MARGIN + LINE_HEIGHT * rows_below) / height
        figure.text(0.01, y, line, color=color, fontsize=FONT_SIZE, va="bottom")
