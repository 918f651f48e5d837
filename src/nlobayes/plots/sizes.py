"""Figures of a network size that is drawn: its posterior, moves between sizes, and scores."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from pandas import DataFrame

from nlobayes.metrics.shown import label_of_size
from nlobayes.plots.axes import Labels, read_labels, with_unit
from nlobayes.plots.convergence import MAX_NAMED_CHAINS, chain_legend, trace_row
from nlobayes.plots.frames import by_chain, floats, split_rows
from nlobayes.plots.style import (
    BLACK,
    BLUE,
    GREEN,
    SPLIT_COLORS,
    VERMILLION,
    Floats,
    chain_color,
    legend_above,
    new_figure,
    spread_log_labels,
)

MOST_BINS = 40
"""Largest number of values with one bin each; with more, bins hold several."""
LEAST_SHOWN = 0.1
"""Least acceptance in percent that is shown; smaller values are drawn here."""
LOG_DENSITY = "log_density"
LIKELIHOOD = "log_likelihood"
PREDICTIONS = {"marginal": ("all sizes together", "-"), "modal": ("modal size alone", "--")}


def sizes(sizes: DataFrame) -> Figure:
    """Draw the posterior probability of each number with its Monte-Carlo error, and the prior."""
    quantities = [*sizes["quantity"].unique()]
    figure = new_figure(height=0.6 + 2.2 * len(quantities))
    panels = figure.subplots(len(quantities), squeeze=False)[:, 0]
    for axes, quantity in zip(panels, quantities, strict=True):
        _posterior_beside_prior(axes, sizes[sizes["quantity"] == quantity])
        axes.set_xlabel(label_of_size(quantity))
    legend_above(figure, panels[0])
    return figure


def _posterior_beside_prior(axes: Axes, rows: DataFrame) -> None:
    number, probability = floats(rows, "number"), floats(rows, "probability")
    axes.bar(number, probability, width=0.7, color=BLUE, alpha=0.6, label="posterior")
    axes.errorbar(
        number,
        probability,
        floats(rows, "mcse"),
        fmt="none",
        ecolor=BLACK,
        elinewidth=1,
        capsize=2,
        label="Monte-Carlo standard error",
    )
    wide = float(np.clip(220 / len(number), 4, 16))
    axes.plot(
        *(number, floats(rows, "prior"), "_"),
        color=VERMILLION,
        markersize=wide,
        markeredgewidth=2,
        label="prior",
    )
    axes.set_xlim(number.min() - 0.7, number.max() + 0.7)
    axes.set_ylim(bottom=0)
    axes.set_ylabel("probability")
    _whole_numbers(axes.xaxis, 16)


def visits(visits: DataFrame, sizes: DataFrame) -> Figure:
    """Draw the counts of jumps from number to number, and the acceptance of moves and jumps."""
    quantities = [*sizes["quantity"].unique()]
    figure = new_figure(height=0.6 + 2.9 * len(quantities))
    panels = figure.subplots(len(quantities), 2, squeeze=False)
    for (left, right), quantity in zip(panels, quantities, strict=True):
        own, inside = (table[table["quantity"] == quantity] for table in (visits, sizes))
        _visit_matrix(figure, left, own, floats(inside, "number"))
        _acceptances(right, own, inside)
        left.set_xlabel(f"{label_of_size(quantity)}\nafter the jump")
        left.set_ylabel("before the jump")
        right.set_xlabel(label_of_size(quantity))
    legend_above(figure, panels[0, 1])
    return figure


def _visit_matrix(figure: Figure, axes: Axes, rows: DataFrame, number: Floats) -> None:
    """Draw the counts of jumps from row to column; rejected jumps are on the diagonal."""
    low, high = number.min(), number.max()
    counts = np.full((int(high - low) + 1,) * 2, np.nan)
    led = rows[rows["visits"] > 0]
    places = [(floats(led, side) - low).astype(int) for side in ("from", "to")]
    counts[places[0], places[1]] = floats(led, "visits")
    edges = (low - 0.5, high + 0.5)
    image = axes.imshow(
        counts,
        cmap="viridis_r",
        norm=LogNorm(1, max(2.0, np.nanmax(counts, initial=1.0))),
        origin="lower",
        extent=(*edges, *edges),
    )
    bar = figure.colorbar(image, cax=axes.inset_axes((1.04, 0, 0.05, 1)))
    bar.set_label("jumps")
    for axis in (axes.xaxis, axes.yaxis):
        _whole_numbers(axis, 8)
    axes.spines[:].set_visible(True)


def _acceptances(axes: Axes, jumps: DataFrame, inside: DataFrame) -> None:
    """Draw the mean acceptance at each number of jumps to more and to fewer, and of other moves."""
    kinds = {"jumps to more": ("^", BLUE, 1), "jumps to fewer": ("v", VERMILLION, -1)}
    for label, (marker, color, side) in kinds.items():
        chosen = jumps[(np.sign(jumps["to"] - jumps["from"]) == side) & (jumps["tried"] > 0)]
        tried, number = floats(chosen, "tried"), floats(chosen, "from")
        numbers, which = np.unique(number, return_inverse=True)
        accepted = np.bincount(which, tried * floats(chosen, "acceptance"))
        mean = accepted / np.maximum(np.bincount(which, tried), 1)
        _acceptance_line(axes, numbers, mean, marker, color, label)
    within = floats(inside, "acceptance_within")
    _acceptance_line(axes, floats(inside, "number"), within, "o", GREEN, "moves of the weights")
    axes.set_yscale("log")
    axes.set_ylim(top=130)
    axes.set_xlim(inside["number"].min() - 0.5, inside["number"].max() + 0.5)
    spread_log_labels(axes.yaxis)
    axes.yaxis.set_major_formatter("{x:g}")
    axes.set_ylabel("mean acceptance (%)")
    _whole_numbers(axes.xaxis, 8)


def _acceptance_line(
    axes: Axes, numbers: Floats, share: Floats, marker: str, color: str, label: str
) -> None:
    percent = np.maximum(100 * share, LEAST_SHOWN)
    axes.plot(numbers, percent, marker + "-", color=color, linewidth=1, label=label)


def _whole_numbers(axis: Axis, most: int) -> None:
    axis.set_major_locator(MaxNLocator(most, steps=[1, 2, 5, 10], integer=True, min_n_ticks=1))


def size_trace(size_trace: DataFrame) -> Figure:
    """Draw traces and distributions of sizes, parameters in use and log density of every chain."""
    quantities = [*size_trace["quantity"].unique()]
    figure = new_figure(height=0.8 + 1.4 * len(quantities))
    panels = figure.subplots(
        len(quantities), 2, sharex="col", sharey="row", width_ratios=(4, 1), squeeze=False
    )
    for (left, right), quantity in zip(panels, quantities, strict=True):
        rows = size_trace[size_trace["quantity"] == quantity]
        is_whole = quantity != LOG_DENSITY
        bins = _bins(floats(rows, "value")) if is_whole else 30
        trace_row(left, right, rows, "value", _label(quantity), bins)
        if is_whole:
            _whole_numbers(left.yaxis, 6)
    panels[-1, 0].set_xlabel("draw")
    panels[-1, 1].set_xlabel("draws per bin")
    figure.align_ylabels(panels[:, 0])
    chain_legend(figure, panels[0, 0])
    return figure


def _label(quantity: str) -> str:
    if quantity == LOG_DENSITY:
        return "log posterior\ndensity (nats)"
    return label_of_size(quantity).replace(" of ", "\nof ").replace(" in use", "\nin use")


def _bins(values: Floats) -> int | list[float]:
    """Return one bin for each value, or a number of bins if there are many."""
    distinct = np.unique(values)
    if len(distinct) > MOST_BINS:
        return 30
    middles = (distinct[1:] + distinct[:-1]) / 2
    below, above = (middles[0], middles[-1]) if len(middles) else distinct[[0, 0]] + [0.5, -0.5]
    return [2 * distinct[0] - below, *middles, 2 * distinct[-1] - above]


def draw_scores(draw_scores: DataFrame, size_scores: DataFrame, labels: DataFrame) -> Figure:
    """Draw RMSE or accuracy, and log likelihood, of each draw of each chain, for each split.

    Lines are the scores of the mixture of all draws, and of the draws of the modal size. They can
    be better than every single draw.
    """
    splits = [split for split in SPLIT_COLORS if split in set(draw_scores["split"])]
    measures = _measures(draw_scores, read_labels(labels))
    figure = new_figure(height=4.4)
    panels = figure.subplots(2, len(splits), sharex=True, sharey="row", squeeze=False)
    for row, (column, of_mixture, factor, label) in zip(panels, measures, strict=True):
        row[0].set_ylabel(label)
        for axes, split in zip(row, splits, strict=True):
            rows = split_rows(draw_scores, split, "draw_scores")
            _scores_of_draws(axes, rows, column, factor, named=split == splits[0])
            mixtures = size_scores[size_scores["split"] == split]
            _lines(axes, mixtures, of_mixture, factor)
    for axes, split in zip(panels[0], splits, strict=True):
        axes.set_title(split)
    for axes in panels[-1]:
        axes.set_xlabel("draw")
        _whole_numbers(axes.xaxis, 3)
    _name_draws_and_lines(figure, panels[0])
    return figure


def _name_draws_and_lines(figure: Figure, row: Sequence[Axes]) -> None:
    """Draw the legends of the chains in the first panel, and of the lines in the last panel."""
    chains = row[0].get_legend_handles_labels()[1]
    shown = (row[0], row[-1]) if len(chains) <= MAX_NAMED_CHAINS else (row[-1],)
    legend_above(figure, *shown, columns=6)
    for line in figure.legends[0].get_lines():
        line.set(markersize=8, alpha=1)


def _measures(table: DataFrame, labels: Labels) -> list[tuple[str, str, float, str]]:
    """List the columns of draws and of mixtures, their factors, and their labels."""
    known = {
        "accuracy": (100.0, "accuracy (%)"),
        "rmse_log10": (1.0, "RMSE (dex)"),
        "rmse_target": (1.0, with_unit("RMSE", labels.unit)),
    }
    measure = next(name for name in known if name in table)
    return [
        (measure, measure, *known[measure]),
        (LIKELIHOOD, "lppd", 1.0, "log likelihood\n(nats per row)"),
    ]


def _scores_of_draws(
    axes: Axes, rows: DataFrame, column: str, factor: float, *, named: bool
) -> None:
    for chain, drawn in by_chain(rows, column):
        axes.plot(
            drawn["draw"],
            factor * floats(drawn, column),
            ".",
            color=chain_color(chain),
            markersize=2.5,
            markeredgewidth=0,
            alpha=0.7,
            rasterized=True,
            label=f"chain {chain}" if named else "_",
        )


def _lines(axes: Axes, scores: DataFrame, column: str, factor: float) -> None:
    for prediction, (label, style) in PREDICTIONS.items():
        for value in scores.loc[scores["prediction"] == prediction, column]:
            axes.axhline(factor * value, color=BLACK, linewidth=1, linestyle=style, label=label)
