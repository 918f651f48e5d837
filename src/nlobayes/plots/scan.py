"""The runs of a grid against what is scanned, as a table beside them names it."""

from matplotlib.figure import Figure
from pandas import DataFrame, isna

from nlobayes.plots import comparison


def scan(runs: DataFrame, scanned: DataFrame) -> Figure:
    """Take what is scanned, the series, and what differs from the one-row table that names them."""
    names = scanned[["along", "series", "varied"]].iloc[0].tolist()
    along, series, varied = (None if isna(name) else str(name) for name in names)
    return comparison.scan(runs, along=along, series=series, varied=varied or "")
