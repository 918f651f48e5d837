"""The runs of a grid against the scanned setting, which a second table names."""

from matplotlib.figure import Figure
from pandas import DataFrame, isna

from nlobayes.plots import comparison


def scan(runs: DataFrame, scanned: DataFrame) -> Figure:
    """Draw runs; the one-row table names the scanned setting, the series and the difference."""
    names = scanned[["along", "series", "varied"]].iloc[0].tolist()
    along, series, varied = (None if isna(name) else str(name) for name in names)
    return comparison.scan(runs, along=along, series=series, varied=varied or "")
