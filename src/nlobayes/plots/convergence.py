"""Figures of convergence: loss, trace, R-hat, autocorrelation, divergences."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from pandas import DataFrame

from nlobayes.plots.axes import note_figure, read_labels
from nlobayes.plots.frames import by_chain, floats
from nlobayes.plots.style import (
    BLACK,
    BLUE,
    ORANGE,
    VERMILLION,
    Floats,
    chain_color,
    legend_above,
    new_figure,
    points,
    reference_line,
    spread_log_labels,
)

RHAT_THRESHOLDS = ((1.01, "-"), (1.05, "--"))
RHAT_FORMS = {
    "rhat": ("rank-normalised split", BLUE),
    "rhat_gelman_rubin": ("Gelman and Rubin", VERMILLION),
}
WIDE_RHAT = 3.0
"""R-hat above which a linear axis would hide the thresholds."""

ESS_THRESHOLD = 400
QUANTITIES = {
    "log_density": "log posterior density\n(nats)",
    "noise": "noise scale\n(standardised units)",
}
LEAST_LOSS = 1e-3
"""Nats per row below which losses are practically equal."""

MAX_NAMED_CHAINS = 10
MAX_VECTOR_POINTS = 20_000


def trace(table: DataFrame) -> Figure:
    """Draw log density and noise scale of draws of every chain, with their distribution per chain.

    A likelihood with a fixed tolerance has no noise to show; a note states this.
    """
    drawn = [name for name in QUANTITIES if table[name].notna().any()]
    figure = new_figure(height=1.2 + 1.5 * len(drawn))
    panels = figure.subplots(
        len(drawn), 2, sharex="col", sharey="row", width_ratios=(4, 1), squeeze=False
    )
    for (left, right), name in zip(panels, drawn, strict=True):
        trace_row(left, right, table, name, QUANTITIES[name])
    panels[-1, 0].set_xlabel("draw")
    panels[-1, 1].set_xlabel("draws per bin")
    if "noise" not in drawn:
        panels[0, 0].set_title("the likelihood learns no single noise scale")
    chain_legend(figure, panels[0, 0])
    return figure


def trace_row(
    left: Axes, right: Axes, table: DataFrame, name: str, label: str, bins: int | list[float] = 30
) -> None:
    """Draw one column of the draws of every chain, and its distribution per chain."""
    edges = np.histogram_bin_edges(table[name].dropna(), bins=bins).tolist()
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
    left.set_ylabel(label)
    left.margins(x=0.01)
    right.xaxis.set_major_locator(MaxNLocator(2, integer=True))


def chain_legend(figure: Figure, axes: Axes) -> None:
    """Name the chains of `axes`, or only count them when they are too many to distinguish."""
    chains = len(axes.get_legend_handles_labels()[1])
    if chains > MAX_NAMED_CHAINS:
        figure.suptitle(f"{chains} chains; colours repeat", fontsize=8)
        return
    legend_above(figure, axes)
    for line in figure.legends[0].get_lines():
        line.set(linewidth=2, alpha=1)


def convergence(table: DataFrame) -> Figure:
    """Draw R-hat in two forms, effective sample sizes, and the variance between chains.

    All are of the predictions at the reference points. The last panel is the share of their
    variance between the means of the chains, which is large if chains are in different modes.
    """
    figure = new_figure(height=5.2)
    panels = figure.subplot_mosaic([["rhat", "rhat"], ["ess", "share"]])
    _rhat_panel(panels["rhat"], table)
    _ess_panel(panels["ess"], floats(table, "ess_bulk"), floats(table, "ess_tail"))
    _share_panel(panels["share"], 100 * floats(table, "variance_share"))
    for axes in panels.values():
        _legend_over(axes)
    return figure


def _legend_over(axes: Axes, *, columns: int = 1) -> None:
    """Draw a legend directly above its panel, for figures with different panels."""
    anchor = (-0.02, 1.0)
    axes.legend(loc="lower left", bbox_to_anchor=anchor, borderaxespad=0.2, ncols=columns)


def _rhat_panel(axes: Axes, table: DataFrame) -> None:
    largest = 1.01
    for column, (name, color) in RHAT_FORMS.items():
        rhat = floats(table, column)
        _cumulative_curve(axes, rhat, f"{name}: {_shares_below(rhat)}", color)
        largest = max(largest, rhat[np.isfinite(rhat)].max(initial=1.0))
    for threshold, linestyle in RHAT_THRESHOLDS:
        axes.axvline(threshold, color=BLACK, linewidth=0.8, linestyle=linestyle, zorder=0.5)
    if largest > WIDE_RHAT:
        axes.set_xscale("log")
    right = float(1 + 1.15 * (largest - 1))
    axes.set_xlim(max(0.9, 1 - 0.1 * (right - 1)), right)
    axes.set_ylim(0, 1.02)
    spread_log_labels(axes.xaxis)
    lines = " and ".join(
        f"{threshold} (beyond the axis)" if threshold > right else f"{threshold}"
        for threshold, _ in RHAT_THRESHOLDS
    )
    axes.set_xlabel(rf"$\hat{{R}}$ of the prediction; lines at {lines}")
    axes.set_ylabel("share of reference points")


def _cumulative_curve(axes: Axes, rhat: Floats, label: str, color: str) -> None:
    """Draw a cumulative curve of R-hat, in which infinite values lie beyond the axis."""
    finite = np.sort(rhat[np.isfinite(rhat)])
    share = np.arange(1, len(finite) + 1) / len(rhat)
    axes.step(finite, share, where="post", color=color, label=label)


def _shares_below(rhat: Floats) -> str:
    infinite = int((~np.isfinite(rhat)).sum())
    if infinite == len(rhat):
        return "not finite at any point"
    shares = [f"{100 * np.mean(rhat <= limit):.1f} % ≤ {limit}" for limit, _ in RHAT_THRESHOLDS]
    return ", ".join(shares) + (f"; not finite: {infinite} of {len(rhat)}" if infinite else "")


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


def _share_panel(axes: Axes, percent: Floats) -> None:
    defined = percent[np.isfinite(percent)]
    label = "none is defined: all draws are equal"
    if defined.size:
        label = f"median {np.median(defined):.3g} %, largest {defined.max():.3g} %"
    edges = np.linspace(0, 1.05 * defined.max(initial=0.0) or 1.0, 31)
    axes.hist(defined, edges.tolist(), histtype="step", linewidth=1.4, color=BLUE, label=label)
    axes.set_xlim(left=0)
    axes.set_xlabel("predictive variance between chains (%)")
    axes.set_ylabel("reference points per bin")


def autocorrelation(function: DataFrame, weights: DataFrame) -> Figure:
    """Draw the autocorrelation of predictions, log density, noise and weights by lag."""
    figure = new_figure(height=3.4)
    left, right = figure.subplots(1, 2, sharey=True)
    _band(left, function, ("f_mean", "f_p10", "f_p90"), "prediction", "of the points")
    left.plot(function["lag"], function["log_density"], color=VERMILLION, label="log density")
    if function["noise"].notna().any():
        left.plot(function["lag"], function["noise"], "--", color=BLACK, label="noise")
    _band(right, weights, ("mean", "p10", "p90"), "weight", "of the weights")
    for axes in (left, right):
        reference_line(axes, y=0.0)
        axes.margins(x=0.01)
        axes.set_xlabel("lag (draws)")
    left.set_ylabel("autocorrelation")
    _legend_over(left, columns=2)
    _legend_over(right)
    return figure


def _band(
    axes: Axes, table: DataFrame, columns: tuple[str, str, str], name: str, those: str
) -> None:
    mean, low, high = (table[column] for column in columns)
    label = f"10 % to 90 % {those}"
    axes.fill_between(table["lag"], low, high, color=BLUE, alpha=0.2, linewidth=0, label=label)
    axes.plot(table["lag"], mean, color=BLUE, label=f"{name}, mean")


def divergences(table: DataFrame, labels: DataFrame) -> Figure:
    """Draw the deviation of divergent draws by covariate; a note if there are none."""
    if table["deviation"].isna().all():
        return note_figure("no divergent transitions: nothing to place")
    figure = new_figure(height=3.2)
    axes = figure.subplots()
    clouds = {
        "expected": (BLACK, "draws without divergence"),
        "deviation": (VERMILLION, "divergent draws"),
    }
    for column, (color, label) in clouds.items():
        rows = table.dropna(subset=[column])
        if len(rows):
            points(axes, floats(rows, "covariate"), floats(rows, column), color=color, label=label)
    axes.set_ylim(bottom=0)
    axes.set_xlabel(read_labels(labels).covariate)
    axes.set_ylabel("mean |prediction − mean| / sd")
    legend_above(figure, axes)
    return figure


def loss(table: DataFrame) -> Figure:
    """Draw training loss and validation error of each chain's pretraining, by epoch.

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
    chain_legend(figure, left)
    return figure
