"""Comparison of the runs of a grid: against a scanned setting, and as paired differences."""

from collections.abc import Iterator, Sequence
from math import ceil
from typing import Literal, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from numpy.typing import NDArray
from pandas import DataFrame, isna

from nlobayes.errors import InputError
from nlobayes.metrics import Metric, is_own, metric_of
from nlobayes.plots.axes import few_ticks, fitting_scale, narrow, note_figure, widen
from nlobayes.plots.frames import COMPARED, SCANNED, cut, finite, floats, present, short_names
from nlobayes.plots.style import BLACK, BLUE, Floats, chain_color, legend_with_warnings, new_figure

MARKERS = "osD^vPX"
COLUMNS = 3
ALONE = "one replicate: no error bar, no ranking, not drawn"
WITHOUT_REPLICATES = (
    "\nthe differences are in differences.csv; error bars need a second seed, or compare two runs\n"
    "over their test points by `nlobayes compare`"
)


class Group(NamedTuple):
    """Runs that share a colour."""

    label: str
    color: str
    marker: str
    runs: DataFrame


class Scores(NamedTuple):
    """Finite scores of runs with the ends of their intervals, axis (run,)."""

    value: Floats
    low: Floats
    high: Floats
    converged: NDArray[np.bool_]


def scan(runs: DataFrame, scanned: DataFrame) -> Figure:
    """Draw runs; the one-row table names the scanned setting, the series and the difference."""
    names = scanned[["along", "series", "varied"]].iloc[0].tolist()
    along, series, varied = (None if isna(name) else str(name) for name in names)
    return scan_along(runs, along=along, series=series, varied=varied or "")


def scan_along(
    runs: DataFrame, *, along: str | None = None, series: str | None = None, varied: str = ""
) -> Figure:
    """Draw scores of every run against a scanned setting; hollow markers are not converged.

    Raises InputError if a named column is missing or cannot be an axis, or if there is no score to
    draw.

    Parameters
    ----------
    runs
        One row per run.
    along
        Column with the numbers of the scanned setting; None draws a row per setting.
    series
        Column whose values have different colours, if any.
    varied
        Description of the difference between settings.
    """
    _check_columns(runs, along, series)
    drawn = runs if along is None else runs[finite(runs, along)]
    metrics = present(SCANNED, [name for name in SCANNED if finite(drawn, name).any()])
    groups = list(_groups(drawn, series))
    draw = _rows if along is None else _curves
    figure = draw(groups, metrics, along or "setting")
    if along is None and varied:
        figure.axes[0].set_ylabel(varied)
    keys = [*map(_key, groups), *_hollow_key(drawn), *_train_key(drawn, metrics)]
    legend_with_warnings(figure, keys, _warnings(runs, drawn, metrics))
    return figure


def _check_columns(runs: DataFrame, along: str | None, series: str | None) -> None:
    for column in (along, series):
        if column is not None and column not in runs:
            raise InputError("plots.no_column_of_runs", column=column, columns=[*runs.columns])
    if along is not None and not finite(runs, along).any():
        raise InputError("plots.no_axis", column=along, dtype=str(runs[along].dtype))


def _groups(runs: DataFrame, series: str | None) -> Iterator[Group]:
    if series is None:
        yield Group("a run each", chain_color(0), MARKERS[0], runs)
        return
    parts = list(runs.groupby(series, dropna=False))
    names = short_names([str(value) for value, _ in parts])
    for index, (name, (_, rows)) in enumerate(zip(names, parts, strict=True)):
        marker = MARKERS[index % len(MARKERS)]
        yield Group(f"{series} = {name}", chain_color(index), marker, rows)


def _curves(groups: Sequence[Group], metrics: Sequence[str], along: str) -> Figure:
    """Draw one panel per score, against the numbers of a setting."""
    figure, panels = _panels(len(metrics), height=1.75)
    scale = fitting_scale(np.concatenate([floats(group.runs, along) for group in groups]))
    for number, (axes, name) in enumerate(zip(panels, metrics, strict=True)):
        for group in groups:
            rows = group.runs[finite(group.runs, name)]
            x, scores = floats(rows, along), _scores(rows, name)
            axes.vlines(x, scores.low, scores.high, color=group.color, linewidth=0.9, alpha=0.6)
            _markers(axes, x, scores.value, scores.converged, group)
            axes.plot(*_means(x, scores.value), color=group.color, linewidth=1)
            if len(trained := group.runs[finite(group.runs, f"train_{name}")]):
                x, train = floats(trained, along), floats(trained, f"train_{name}")
                axes.plot(x, train, "x", color=group.color, markersize=4)
                axes.plot(*_means(x, train), ":", color=group.color, linewidth=1)
        if (line := metric_of(name).line) is not None:
            axes.axhline(line, color=BLACK, linewidth=0.8, zorder=0.5)
        axes.set_xscale(scale)
        axes.set_yscale(_scale(groups, name))
        axes.set_title(narrow(metric_of(name).title))
        axes.set_xlabel(cut(along) if number + COLUMNS >= len(metrics) else "")
        widen(axes.yaxis, metric_of(name).axis.span)
        few_ticks(axes.xaxis)
        few_ticks(axes.yaxis, least=2)
    return figure


def _rows(groups: Sequence[Group], metrics: Sequence[str], column: str) -> Figure:
    """Draw one panel per score, with a row for each setting; the bar is the mean of its runs."""
    settings = list(dict.fromkeys(name for group in groups for name in group.runs[column]))
    several = sum(group.runs[column].nunique() for group in groups) > len(settings)
    figure, panels = _panels(len(metrics), height=0.8 + 0.2 * len(settings), sharey=True)
    for axes, name in zip(panels, metrics, strict=True):
        for number, group in enumerate(groups):
            rows = group.runs[finite(group.runs, name)]
            scores = _scores(rows, name)
            aside = several * 0.5 * ((number + 0.5) / len(groups) - 0.5)
            y = np.array([settings.index(setting) for setting in rows[column]]) + aside
            axes.hlines(y, scores.low, scores.high, color=group.color, linewidth=0.9, alpha=0.6)
            _markers(axes, scores.value, y, scores.converged, group)
            if len(trained := group.runs[finite(group.runs, f"train_{name}")]):
                beside = np.array([settings.index(each) for each in trained[column]]) + aside
                train = floats(trained, f"train_{name}")
                axes.plot(train, beside, "x", color=group.color, markersize=4)
            if len(rows) > rows[column].nunique():
                where, mean = _means(y, scores.value)
                axes.plot(mean, where, "|", color=group.color, markersize=9)
        if (line := metric_of(name).line) is not None:
            axes.axvline(line, color=BLACK, linewidth=0.8, zorder=0.5)
        axes.set_xscale(_scale(groups, name))
        axes.set_title(narrow(metric_of(name).title))
        widen(axes.xaxis, metric_of(name).axis.span)
        few_ticks(axes.xaxis, 3, least=2)
    _name_rows(panels[0], short_names(settings))
    return figure


def _panels(count: int, *, height: float, sharey: bool = False) -> tuple[Figure, list[Axes]]:
    rows, columns = ceil(count / COLUMNS), min(COLUMNS, count)
    figure = new_figure(height=0.4 + height * rows)
    panels = figure.subplots(rows, columns, sharey=sharey, squeeze=False).ravel().tolist()
    for axes in panels[count:]:
        axes.remove()
    return figure, panels[:count]


def _scores(rows: DataFrame, name: str) -> Scores:
    """Return the scores of rows that have one; without interval, its ends are the score."""
    factor = 100.0 if metric_of(name).percent else 1.0
    value = floats(rows, name)
    ends = []
    for column in (f"{name}_low", f"{name}_high"):
        known = finite(rows, column)
        ends.append(np.where(known, rows[column], value) if known.any() else value)
    low, high = (factor * end for end in ends)
    return Scores(factor * value, low, high, _converged(rows))


def _converged(runs: DataFrame) -> NDArray[np.bool_]:
    """Find converged runs; unknown counts as not converged. Verdicts may be texts."""
    return runs["converged"].isin([True, "True"]).to_numpy()


def _approximate(runs: DataFrame) -> NDArray[np.bool_]:
    """Find runs whose draws are not chains: convergence does not apply to them."""
    return runs["converged"].isin(["approximate"]).to_numpy()


def _scale(groups: Sequence[Group], name: str) -> Literal["linear", "log"]:
    values = np.concatenate([floats(g.runs, name)[finite(g.runs, name)] for g in groups])
    if metric_of(name).axis.scale == "fitting":
        return fitting_scale(values)
    return "log" if metric_of(name).axis.scale == "log" else "linear"


def _means(position: Floats, value: Floats) -> tuple[Floats, Floats]:
    """Return the positions and the mean of the values at each."""
    where, index = np.unique(position, return_inverse=True)
    return where, np.bincount(index, value) / np.bincount(index)


def _markers(axes: Axes, x: Floats, y: Floats, converged: NDArray[np.bool_], group: Group) -> None:
    for chosen, face in ((converged, group.color), (~converged, "white")):
        axes.plot(x[chosen], y[chosen], group.marker, c=group.color, mfc=face, ms=4, zorder=3)


def _name_rows(axes: Axes, names: Sequence[str]) -> None:
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.5, -0.5)


def _key(group: Group) -> Line2D:
    return Line2D([], [], color=group.color, marker=group.marker, lw=1, label=group.label)


def _hollow_key(runs: DataFrame) -> list[Line2D]:
    hollow = {
        "not converged": ~(_converged(runs) | _approximate(runs)),
        "approximate": _approximate(runs),
    }
    label = " or ".join(name for name, chosen in hollow.items() if chosen.any())
    if not label:
        return []
    key = Line2D([], [], color=BLACK, marker="o", linestyle="none", label=label)
    key.set_markerfacecolor("white")
    return [key]


def _train_key(runs: DataFrame, metrics: Sequence[str]) -> list[Line2D]:
    if not any(finite(runs, f"train_{name}").any() for name in metrics):
        return []
    key = Line2D([], [], color=BLACK, linestyle=":", marker="x", markersize=4, label="train rows")
    return [key]


def _warnings(runs: DataFrame, drawn: DataFrame, metrics: Sequence[str]) -> list[str]:
    """List warnings for the comparison."""
    lacking = {metric_of(name).title: (~finite(drawn, name)).sum() for name in metrics}
    counts = {
        "not converged": (~(_converged(runs) | _approximate(runs))).sum(),
        "approximate, convergence does not apply": _approximate(runs).sum(),
        "not drawn, as the setting is empty": len(runs) - len(drawn),
        **{f"not finite, {label}": count for label, count in lacking.items()},
    }
    return [f"{what}: {count} of {len(runs)} runs" for what, count in counts.items() if count]


def differences(differences: DataFrame) -> Figure:
    """Draw the paired difference of every setting to the reference, with its interval."""
    if differences.empty:
        return note_figure("a single setting: there is nothing to compare it with")
    notes, differences = _few_replicates(differences), differences[differences["replicates"] > 1]
    if differences.empty:
        return note_figure("\n".join(notes) + WITHOUT_REPLICATES)
    named = differences["metric"].unique().tolist()
    metrics = present((*COMPARED, *filter(is_own, named)), named)
    settings = differences["setting"].unique().tolist()
    reference, *names = short_names([differences["reference"].iloc[0], *settings])
    figure, panels = _panels(len(metrics), height=1.0 + 0.2 * len(settings), sharey=True)
    for axes, name in zip(panels, metrics, strict=True):
        rows = differences[differences["metric"] == name]
        y = np.array([settings.index(setting) for setting in rows["setting"]])
        _forest(axes, rows, y, metric_of(name))
    _name_rows(panels[0], names)
    key = Line2D(
        [], [], color=BLUE, marker="o", lw=1, label=f"difference to {reference}, 95 % interval"
    )
    legend_with_warnings(figure, [key], notes)
    return figure


def _forest(axes: Axes, rows: DataFrame, y: NDArray[np.int_], metric: Metric) -> None:
    factor = 100.0 if metric.percent else 1.0
    low, high = (factor * floats(rows, end) for end in ("low", "high"))
    axes.hlines(y, low, high, color=BLUE, linewidth=1.2)
    axes.plot(factor * floats(rows, "difference"), y, "o", color=BLUE)
    axes.axvline(0.0, color=BLACK, linewidth=0.8, zorder=0.5)
    axes.set_title(narrow(metric.title.replace("(%)", "(percentage points)")))
    axes.set_xlabel(f"{metric.direction} is better" if metric.direction else "")
    few_ticks(axes.xaxis, 3)


def _few_replicates(differences: DataFrame) -> list[str]:
    """List warnings of differences without an error bar, and of missing ones."""
    replicates = differences.groupby("setting")["replicates"].max()
    none, one = (replicates == 0).sum(), (replicates == 1).sum()
    settings = len(replicates)
    found = [ALONE if one == settings else f"{one} of {settings} settings: {ALONE}"] if one else []
    if none:
        found.append(f"{none} of {settings} settings share no replicate with the reference")
    return found
