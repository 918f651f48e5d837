"""What networks cost: a draw, predictions of 1000 draws, loading these draws."""

from matplotlib.figure import Figure
from pandas import DataFrame

from nlobayes.plots.style import BLACK, CHAIN_COLORS, legend_above, new_figure
from nlobayes.plots.tables import floats

POINTS = (1, 256, 4096)


def speed(table: DataFrame) -> Figure:
    """Seconds per gradient and per draw, and milliseconds to predict and load, by parameters."""
    rows = table.sort_values("parameters")
    figure = new_figure(height=3.2)
    left, right = figure.subplots(1, 2, sharex=True)
    parameters = floats(rows, "parameters")
    sampling = {"seconds_per_gradient": "gradient", "seconds_per_draw": "draw of fixed length"}
    for (column, name), color in zip(sampling.items(), CHAIN_COLORS, strict=False):
        left.plot(parameters, floats(rows, column), "o-", color=color, markersize=4, label=name)
    for count, color in zip(POINTS, CHAIN_COLORS, strict=False):
        name = f"predict {count} point{'s' if count > 1 else ''}"
        milliseconds = floats(rows, f"predict_{count}_ms")
        right.plot(parameters, milliseconds, "o-", color=color, markersize=4, label=name)
    right.plot(parameters, floats(rows, "load_ms"), "s--", color=BLACK, markersize=4, label="load")
    for axes in (left, right):
        axes.set(xscale="log", yscale="log", xlabel="parameters")
    left.set_title(f"posterior of {rows['rows'].iloc[0]:.0f} rows")
    left.set_ylabel("time (s)")
    right.set_title("1000 draws")
    right.set_ylabel("time (ms)")
    legend_above(figure, left, place="outside upper left", columns=1)
    legend_above(figure, right, place="outside upper right", columns=2)
    return figure
