"""The figures by name, and the columns that each needs of its tables."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from matplotlib.figure import Figure
from matplotlib.ticker import AutoLocator, MaxNLocator
from pandas import DataFrame, isna

from nlobayes.errors import InputError
from nlobayes.plots import (
    accuracy,
    bands,
    calibration,
    classification,
    comparison,
    conditional,
    convergence,
    landscape,
    prior_predictive,
    speed,
    thinning,
    verdict,
    weights,
)
from nlobayes.plots.footer import write_footer
from nlobayes.plots.style import house_style
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
        For each table, in the order of the arguments of `draw`: the columns it needs. Those that
        may lack values end in `?`; `*` takes the table as it is.

    Notes
    -----
    What is drawn shows `name`, and `warnings` in red, below its panels.
    """

    def checked(*tables: DataFrame, name: str = "", warnings: Sequence[str] = ()) -> Figure:
        rows = [
            drawable_rows(table, called, needed.split())
            for table, (called, needed) in zip(tables, columns.items(), strict=True)
        ]
        with house_style():
            figure = _drawn(draw, rows, tuple(columns))
            dropped = _dropped_rows(sum(map(len, tables)), sum(map(len, rows)))
            write_footer(figure, name, [note for note in (*warnings, dropped) if note])
            _arrange(figure)
        return figure

    return FigureSpec(tuple(columns), checked)


def _drawn(draw: Callable[..., Figure], rows: Sequence[DataFrame], names: Sequence[str]) -> Figure:
    try:
        return draw(*rows)
    except KeyError as error:
        raise InputError(
            f"tables {', '.join(names)}: column {error} is missing; write the tables anew"
        ) from None


def _dropped_rows(received: int, drawn: int) -> str:
    return f"{received - drawn} of {received} rows are not drawn: not finite" * (drawn < received)


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
    figure.set_layout_engine(None)


def _scan(runs: DataFrame, scanned: DataFrame) -> Figure:
    """Take what is scanned, the series, and what differs from the one-row table that names them."""
    names = scanned[["along", "series", "varied"]].iloc[0].tolist()
    along, series, varied = (None if isna(name) else str(name) for name in names)
    return comparison.scan(runs, along=along, series=series, varied=varied or "")


FIGURES: dict[str, FigureSpec] = {
    "verdict": figure_spec(verdict.verdict, verdict="*", calibration_checks="*"),
    "trace": figure_spec(convergence.trace, trace="chain draw log_density noise?"),
    "convergence": figure_spec(
        convergence.convergence,
        convergence="rhat? rhat_gelman_rubin? ess_bulk ess_tail variance_share?",
    ),
    "autocorrelation": figure_spec(
        convergence.autocorrelation,
        autocorrelation="lag f_mean f_p10 f_p90 log_density noise?",
        weight_autocorrelation="lag mean p10 p90",
    ),
    "divergences": figure_spec(
        convergence.divergences, divergences="covariate deviation? expected?", labels="*"
    ),
    "thinning": figure_spec(
        thinning.thinning,
        thinning="step ess_f_median rmse? lppd megabytes stored chosen",
    ),
    "weight_planes": figure_spec(weights.planes, weight_planes="*"),
    "history": figure_spec(weights.history, history="*"),
    "loss": figure_spec(convergence.loss, loss="chain epoch train_loss validation_rmse?"),
    "landscape": figure_spec(
        landscape.landscape,
        landscape="alpha beta energy?",
        landscape_maps="chain alpha beta energy",
        path="t straight? bezier?",
    ),
    "distances": figure_spec(landscape.distances, distances="epoch first second distance"),
    "prior_predictive": figure_spec(
        prior_predictive.prior_predictive,
        prior_quantiles="output covariate q2_5 q16 q84 q97_5 observed?",
        prior_draws="output draw covariate f",
        prior_scales="output draw? mean sd step range",
        labels="*",
    ),
    "predicted_vs_true": figure_spec(
        accuracy.predicted_vs_true,
        predictions="split truth mean low_68 high_68 truth_target median_target",
        labels="*",
    ),
    "residuals": figure_spec(
        accuracy.residuals, predictions="split covariate truth mean", labels="*"
    ),
    "residual_histogram": figure_spec(
        accuracy.residual_histogram, predictions="split truth mean", labels="*"
    ),
    "deciles": figure_spec(conditional.deciles, deciles="*", labels="*"),
    "bands": figure_spec(
        bands.bands,
        predictions="split covariate truth mean posterior_sd total_sd",
        labels="*",
    ),
    "pulls": figure_spec(calibration.pulls, predictions="split z_total z_epistemic?"),
    "coverage": figure_spec(
        calibration.coverage,
        coverage="split k own_total own_epistemic? epistemic? total lower upper",
    ),
    "levels": figure_spec(calibration.levels, levels="split level coverage lower upper"),
    "pit": figure_spec(calibration.pit, predictions="split pit", pit="split u ecdf lower upper"),
    "conditional": figure_spec(conditional.conditional, conditional="*", labels="*"),
    "scale_ratio": figure_spec(
        accuracy.scale_ratio, predictions="split covariate error_over_scale?", labels="*"
    ),
    "cases": figure_spec(
        calibration.cases, cases="case point truth draw mean total_sd", labels="*"
    ),
    "confusion": figure_spec(
        classification.confusion, confusion="split true predicted count", classes="*"
    ),
    "reliability": figure_spec(
        classification.reliability,
        reliability="split low high count confidence? accuracy? lower? upper?",
    ),
    "thresholds": figure_spec(
        classification.thresholds,
        thresholds="split threshold precision? lower? upper? recall? answered",
    ),
    "scan": figure_spec(_scan, runs="*", scanned="*"),
    "differences": figure_spec(comparison.differences, differences="*"),
    "speed": figure_spec(
        speed.speed,
        speed="parameters rows seconds_per_gradient seconds_per_draw? predict_1_ms predict_256_ms"
        " predict_4096_ms load_ms",
    ),
}
