"""The figures by name, and the columns that each needs of its tables."""

from collections.abc import Callable
from typing import NamedTuple

from matplotlib.figure import Figure
from matplotlib.ticker import AutoLocator, MaxNLocator
from pandas import DataFrame

from nlobayes.plots import accuracy, calibration, convergence
from nlobayes.plots.style import VERMILLION, house_style
from nlobayes.plots.tables import drawable_rows


class FigureSpec(NamedTuple):
    """How to draw one figure: `draw` takes the named tables, in this order."""

    tables: tuple[str, ...]
    draw: Callable[..., Figure]


def figure_spec(draw: Callable[..., Figure], **columns: str) -> FigureSpec:
    """Let a drawing function check its tables and draw in the house style.

    Parameters
    ----------
    draw
        Function from tables to a figure.
    **columns
        For each table, in the order of the arguments of `draw`: the columns it needs.
    """

    def checked(*tables: DataFrame) -> Figure:
        rows = [
            drawable_rows(table, name, needed.split())
            for table, (name, needed) in zip(tables, columns.items(), strict=True)
        ]
        with house_style():
            figure = draw(*rows)
            _note_dropped_rows(figure, sum(map(len, tables)), sum(map(len, rows)))
            _arrange(figure)
        return figure

    return FigureSpec(tuple(columns), checked)


def _note_dropped_rows(figure: Figure, received: int, drawn: int) -> None:
    if drawn < received:
        note = f"{received - drawn} of {received} rows are not drawn: not finite"
        figure.supxlabel(note, fontsize=7.5, color=VERMILLION)


def _arrange(figure: Figure) -> None:
    """Place everything once and for all: rendering must not move it again.

    Matplotlib chooses the number of ticks from the size in pixels, which differs between
    formats; wider labels would then run off the page.
    """
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            if isinstance(axis.get_major_locator(), AutoLocator):
                axis.set_major_locator(MaxNLocator(8, steps=[1, 2, 5, 10]))
    figure.draw_without_rendering()
    figure.set_layout_engine("none")


FIGURES: dict[str, FigureSpec] = {
    "trace": figure_spec(convergence.trace, trace="chain draw log_density noise"),
    "convergence": figure_spec(convergence.convergence, convergence="rhat ess_bulk ess_tail"),
    "autocorrelation": figure_spec(
        convergence.autocorrelation, autocorrelation="lag f_mean f_p10 f_p90 log_density"
    ),
    "loss": figure_spec(convergence.loss, loss="chain epoch train_loss validation_rmse"),
    "predicted_vs_true": figure_spec(
        accuracy.predicted_vs_true,
        predictions="split target_log10 mean_log10 total_sd_log10 target_pb median_pb",
    ),
    "residuals": figure_spec(
        accuracy.residuals, predictions="split mass_gev target_log10 mean_log10"
    ),
    "pulls": figure_spec(calibration.pulls, predictions="split z_total z_epistemic"),
    "coverage": figure_spec(
        calibration.coverage, coverage="split k nominal epistemic total lower upper"
    ),
    "cases": figure_spec(
        calibration.cases, cases="case point target_log10 draw_log10 mean_log10 total_sd_log10"
    ),
}
