"""How tests draw figures and read what is on them."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.text import Text

from nlobayes.plots import FIGURES
from nlobayes.plots.style import house_style
from tests.unit.plots.chain_tables import chain_tables
from tests.unit.plots.class_tables import class_tables
from tests.unit.plots.data_tables import data_tables, rounds
from tests.unit.plots.fidelity_tables import fidelity_tables
from tests.unit.plots.prediction_tables import comparison_tables, prediction_tables
from tests.unit.plots.prior_tables import prior_tables
from tests.unit.plots.size_tables import size_tables


def every_table() -> dict[str, pd.DataFrame]:
    """One invented table for each name that figures need."""
    of_runs = chain_tables(chains=3) | prediction_tables() | class_tables() | size_tables()
    of_others = comparison_tables() | prior_tables() | fidelity_tables() | data_tables()
    return of_runs | of_others | {"rounds": rounds()}


TABLES = every_table()


def draw(
    name: str,
    replaced: Mapping[str, pd.DataFrame] | None = None,
    *,
    run: str = "",
    warnings: Sequence[str] = (),
) -> Figure:
    """Draw a figure of the registry, from the invented tables or from those given."""
    tables, spec = TABLES | dict(replaced or {}), FIGURES[name]
    needed = [tables[table] for table in spec.tables]
    return spec.draw(*needed, name=run, warnings=warnings)


def drawn(function: Callable[..., Figure], *tables: pd.DataFrame) -> Figure:
    """Draw and arrange a figure in the house style; it must leave its tables alone."""
    copies = [table.copy() for table in tables]
    with house_style():
        figure = function(*tables)
        figure.draw_without_rendering()
        figure.set_layout_engine("none")
    for table, copy in zip(tables, copies, strict=True):
        pd.testing.assert_frame_equal(table, copy)
    return figure


def shown(figure: Figure) -> str:
    """Every text of a figure but the tick labels."""
    ticks = {
        label
        for axes in figure.axes
        for axis in (axes.xaxis, axes.yaxis)
        for label in axis.get_ticklabels()
    }
    found = [text for text in figure.findobj(Text) if text not in ticks]
    return "\n".join(text.get_text() for text in found if text.get_visible())


def xy(line: Line2D) -> tuple[np.ndarray, np.ndarray]:
    """Coordinates of a drawn line."""
    x, y = line.get_data()
    return np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
