"""Did the chains start well, mix and agree: loss, trace, R-hat and ESS, autocorrelation."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from pandas import DataFrame

from nlobayes.plots.style import (
    BLACK,
    BLUE,
    ORANGE,
    VERMILLION,
    Floats,
    chain_color,
    legend_above,
    new_figure,
    reference_line,
    spread_log_labels,
)
from nlobayes.plots.tables import by_chain, floats

RHAT_THRESHOLDS = ((1.01, "-"), (1.05, "--"))
ESS_THRESHOLD = 100
QUANTITIES = {
    "log_density": "log posterior density\n(nats)",
    "noise": "noise scale\n(standardised units)",
}
LEAST_LOSS = 1e-3
"""Nats per row below which losses are as good as equal."""

MAX_NAMED_CHAINS = 10
MAX_VECTOR_POINTS = 20_000


def trace(table: DataFrame) -> Figure:
    """Log density and noise scale of draws of every chain, with their distribution per chain.

    A likelihood with a fixed tolerance has no noise to show; a note says so.
    """
    drawn = [name for name in QUANTITIES if table[name].notna().any()]
    figure = new_figure(height=1.2 + 1.5 * len(drawn))
    panels = figure.subplots(
        len(drawn), 2, sharex="col", sharey="row", width_ratios=(4, 1), squeeze=False
    )
    for (left, right), name in zip(panels, drawn, strict=True):
        _trace_row(left, right, table, name)
    panels[-1, 0].set_xlabel("draw")
    panels[-1, 1].set_xlabel("draws per bin")
    if "noise" not in drawn:
        panels[0, 0].set_title("tolerance of the likelihood is fixed: no noise scale to show")
    _chain_legend(figure, panels[0, 0])
    return figure


def _trace_row(left: Axes, right: Axes, table: DataFrame, name: str) -> None:
    edges = np.histogram_bin_edges(table[name].dropna(), bins=30).tolist()
    for chain, rows in by_chain(table, name):
        color, values = chain_color(chain), floats(rows, name)
        left.plot(
            rows["draw"],
            values,
            color=color,
            linewidth=0.6,
            alpha=0.85,
            label=f"chain {chain}",
            rasterized=len(table) > MAX_VECTOR_POINTS,
        )
        right.hist(values, edges, orientation="horizontal", histtype="step", color=color)
    left.set_ylabel(QUANTITIES[name])
    left.margins(x=0.01)
    right.xaxis.set_major_locator(MaxNLocator(2, integer=True))


def _chain_legend(figure: Figure, axes: Axes) -> None:
    """Name the chains, or only count them when they are too many to tell apart."""
    chains = len(axes.get_legend_handles_labels()[1])
    if chains > MAX_NAMED_CHAINS:
        figure.suptitle(f"{chains} chains; colours repeat", fontsize=8)
        return
    legend_above(figure, axes)
    for line in figure.legends[0].get_lines():
        line.set(linewidth=2, alpha=1)


def convergence(table: DataFrame) -> Figure:
    """R-hat (cumulative) and effective sample sizes of the predictions at reference points."""
    figure = new_figure(height=3.2)
    left, right = figure.subplots(1, 2)
    _rhat_panel(left, floats(table, "rhat"))
    _ess_panel(right, floats(table, "ess_bulk"), floats(table, "ess_tail"))
    legend_above(figure, left, place="outside upper left", columns=1)
    legend_above(figure, right, place="outside upper right", columns=1)
    return figure


def _rhat_panel(axes: Axes, rhat: Floats) -> None:
    """Cumulative share; where R-hat is not finite, nothing agrees and the curve stays low."""
    finite = rhat[np.isfinite(rhat)]
    share = np.arange(1, len(finite) + 1) / len(rhat)
    axes.step(np.sort(finite), share, where="post", color=BLUE)
    for threshold, linestyle in RHAT_THRESHOLDS:
        percent = 100 * np.mean(rhat <= threshold)
        axes.axvline(
            threshold,
            color=BLACK,
            linewidth=0.8,
            linestyle=linestyle,
            label=f"{threshold} ({percent:.1f} % of the points at or below)",
        )
    if len(finite) < len(rhat):
        axes.plot([], [], " ", label=f"not finite: {len(rhat) - len(finite)} of {len(rhat)}")
    axes.set_xlim(finite.min(initial=0.998), max(1.06, 1.02 * finite.max(initial=1.0) - 0.02))
    axes.set_ylim(0, 1.02)
    axes.set_xlabel(r"$\hat{R}$ of the prediction (dimensionless)")
    axes.set_ylabel("share of reference points")


def _ess_panel(axes: Axes, bulk: Floats, tail: Floats) -> None:
    both = np.concatenate([bulk, tail, [ESS_THRESHOLD]])
    edges = np.geomspace(max(1.0, 0.95 * both.min()), 1.05 * both.max(), 36)
    for values, color, name in ((bulk, BLUE, "bulk"), (tail, ORANGE, "tail")):
        label = f"{name}, median {np.median(values):.0f}"
        axes.hist(
            values.clip(min=edges[0]),
            edges.tolist(),
            histtype="step",
            linewidth=1.4,
            color=color,
            label=label,
        )
    axes.axvline(ESS_THRESHOLD, color=BLACK, linewidth=0.8, label=f"threshold {ESS_THRESHOLD}")
    axes.set_xscale("log")
    axes.set_xlabel("effective sample size, all chains (draws)")
    axes.set_ylabel("reference points per bin")
    spread_log_labels(axes.xaxis)


def autocorrelation(table: DataFrame) -> Figure:
    """Autocorrelation of the predictions and of the log density against the lag."""
    figure = new_figure(height=3.2)
    axes = figure.subplots()
    axes.fill_between(
        table["lag"],
        table["f_p10"],
        table["f_p90"],
        color=BLUE,
        alpha=0.2,
        linewidth=0,
        label="10 % to 90 % of the reference points",
    )
    axes.plot(table["lag"], table["f_mean"], color=BLUE, label="prediction, mean")
    axes.plot(table["lag"], table["log_density"], color=VERMILLION, label="log density")
    reference_line(axes, y=0.0)
    axes.margins(x=0.01)
    axes.set_xlabel("lag (draws)")
    axes.set_ylabel("autocorrelation (dimensionless)")
    legend_above(figure, axes)
    return figure


def loss(table: DataFrame) -> Figure:
    """Training loss and validation error of each chain's pretraining, by epoch.

    The loss may be negative, so it is shown above the lowest that any chain reached.
    """
    table = table.assign(train_loss=table["train_loss"] - table["train_loss"].min())
    figure = new_figure(height=3.2)
    left, right = figure.subplots(1, 2, sharex=True)
    for axes, column in ((left, "train_loss"), (right, "validation_rmse")):
        for chain, rows in by_chain(table, column):
            color = chain_color(chain)
            axes.plot(rows["epoch"], rows[column], color=color, linewidth=1, label=f"chain {chain}")
        axes.set_yscale("log", nonpositive="mask")
        spread_log_labels(axes.yaxis)
        axes.set_xlabel("epoch")
    left.set_ylim(bottom=LEAST_LOSS)
    left.set_ylabel("loss above the lowest (nats per row)")
    right.set_ylabel("validation RMSE (standardised units)")
    _chain_legend(figure, left)
    return figure
