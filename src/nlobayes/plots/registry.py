"""The figures by name, with their drawing functions in the house style, and their footer."""

import textwrap
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import NamedTuple

from matplotlib.figure import Figure
from matplotlib.ticker import AutoLocator, MaxNLocator
from pandas import DataFrame

from nlobayes.errors import InputError
from nlobayes.figures import ALL
from nlobayes.plots.frames import drawable_rows
from nlobayes.plots.style import GREY, RED, house_style

FOOTER_WIDTH = 110
"""Characters that fit below a figure."""

FONT_SIZE, LINE_HEIGHT, MARGIN = 7.0, 0.14, 0.04
"""Size of the text in points; height of a line and margin in inches."""


class FigureSpec(NamedTuple):
    """One figure: `draw` takes the named tables, in this order."""

    tables: tuple[str, ...]
    draw: Callable[..., Figure]


def figure_spec(drawn_by: str, columns: Mapping[str, str]) -> FigureSpec:
    """Wrap a drawing function so that it checks its tables and draws in the house style.

    Parameters
    ----------
    drawn_by
        Module of this package, and its function from tables to a figure; it is imported when the
        figure is drawn.
    columns
        For each table, in the order of the arguments of that function: the columns it needs. Those
        that may lack values end in `?`; `*` takes the table as it is.

    Notes
    -----
    The figure shows `name`, and `warnings` in red, below its panels.
    """

    def checked(*tables: DataFrame, name: str = "", warnings: Sequence[str] = ()) -> Figure:
        rows = [
            drawable_rows(table, called, needed.split())
            for table, (called, needed) in zip(tables, columns.items(), strict=True)
        ]
        with house_style():
            figure = _drawn(_function(drawn_by), rows, tuple(columns))
            dropped = _dropped_rows(sum(map(len, tables)), sum(map(len, rows)))
            _write_footer(figure, name, [note for note in (*warnings, dropped) if note])
            _arrange(figure)
        return figure

    return FigureSpec(tuple(columns), checked)


def _function(drawn_by: str) -> Callable[..., Figure]:
    module, _, name = drawn_by.rpartition(".")
    found: Callable[..., Figure] = getattr(import_module(f"nlobayes.plots.{module}"), name)
    return found


def _drawn(draw: Callable[..., Figure], rows: Sequence[DataFrame], names: Sequence[str]) -> Figure:
    try:
        return draw(*rows)
    except KeyError as error:
        raise InputError("plots.no_column_drawn", tables=names, column=error.args[0]) from None


def _dropped_rows(received: int, drawn: int) -> str:
    if drawn == received:
        return ""
    return f"{received - drawn} of {received} rows are not drawn: not finite"


def _arrange(figure: Figure) -> None:
    """Fix the layout, so that rendering does not change it.

    Matplotlib chooses the number of ticks from the size in pixels, which differs between
    formats; wider labels would then run off the page.
    """
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            if isinstance(axis.get_major_locator(), AutoLocator):
                axis.set_major_locator(MaxNLocator(8, steps=[1, 2, 5, 10]))
    figure.draw_without_rendering()
    figure.set_layout_engine(None)


def _write_footer(figure: Figure, name: str, warnings: Sequence[str]) -> None:
    """Write `name` in grey at the foot of the figure, above it `warnings` in red.

    The figure grows by the height of the text, so that its panels keep theirs.
    """
    lines = [(line, RED) for warning in warnings for line in textwrap.wrap(warning, FOOTER_WIDTH)]
    lines += [(line, GREY) for line in textwrap.wrap(name, FOOTER_WIDTH)]
    if not lines:
        return
    strip = 2 * MARGIN + LINE_HEIGHT * len(lines)
    height = figure.get_figheight() + strip
    figure.set_figheight(height)
    figure.set_layout_engine("constrained", rect=(0, strip / height, 1, 1 - strip / height))
    for rows_below, (line, color) in zip(reversed(range(len(lines))), lines, strict=True):
        y = (MARGIN + LINE_HEIGHT * rows_below) / height
        figure.text(0.01, y, line, color=color, fontsize=FONT_SIZE, va="bottom")


FIGURES = {figure.name: figure_spec(figure.drawn_by, figure.tables) for figure in ALL}
