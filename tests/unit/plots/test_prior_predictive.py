"""Bands, draws, targets and ratios of a prior predictive check show their tables."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.colors import same_color
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle, StepPatch

from nlobayes.plots.prior_predictive import DRAW_COLORS, prior_predictive
from nlobayes.plots.style import BLACK
from tests.unit.plots.drawing import drawn, shown, xy
from tests.unit.plots.prior_tables import Tables, class_prior_tables, labels_of, prior_tables


def figure_of(tables: Tables, labels: pd.DataFrame) -> Figure:
    names = ("prior_quantiles", "prior_draws", "prior_scales")
    return drawn(prior_predictive, *(tables[name] for name in names), labels)


def points_of(axes: Axes, color: str) -> Line2D:
    (line,) = (line for line in axes.get_lines() if same_color(line.get_color(), color))
    return line


def histograms(axes: Axes) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Shares (bin,) and edges (bin + 1,) by name."""
    steps = [patch for patch in axes.patches if isinstance(patch, StepPatch)]
    found = {str(patch.get_label()): patch.get_data() for patch in steps}
    return {
        name: (np.asarray(share), np.asarray(edges)) for name, (share, edges, _) in found.items()
    }


def mean_decades(axes: Axes, name: str) -> float:
    share, edges = histograms(axes)[name]
    decades = np.log10(edges)
    return float(share @ (decades[1:] + decades[:-1]) / 2 / share.sum())


def test_bands_draws_and_targets_are_those_of_the_tables() -> None:
    tables = prior_tables()
    left = figure_of(tables, labels_of("y0")).axes[0]
    quantiles, draws = tables["prior_quantiles"], tables["prior_draws"]
    for band, (low, high) in zip(
        left.collections, (("q2_5", "q97_5"), ("q16", "q84")), strict=True
    ):
        extents = band.get_datalim(left.transData)
        assert extents.y0 == pytest.approx(quantiles[low].min())
        assert extents.y1 == pytest.approx(quantiles[high].max())
    np.testing.assert_array_equal(xy(points_of(left, BLACK))[1], quantiles["observed"])
    for number, color in enumerate(DRAW_COLORS):
        rows = draws[draws["draw"] == number]
        np.testing.assert_array_equal(xy(points_of(left, color)), [rows["covariate"], rows["f"]])


@pytest.mark.parametrize("width", [0.01, 1.0, 200.0])
def test_ratios_are_of_the_prior_over_the_target(width: float) -> None:
    """Waves of another phase have nearly the same scales."""
    right = figure_of(prior_tables(width=width, draws=400), labels_of("y0")).axes[1]
    assert {*histograms(right)} == {"sd", "step", "range"}
    assert right.get_xscale() == "log"
    for name, (share, _) in histograms(right).items():
        assert share.sum() == pytest.approx(100)
        assert mean_decades(right, name) == pytest.approx(np.log10(width), abs=0.1)
    low, high = right.get_xlim()
    assert low < 1 < high


def test_classes_show_how_sure_the_prior_is() -> None:
    tables = class_prior_tables()
    names = ["largest probability", *(f"probability of class {number}" for number in range(3))]
    figure = figure_of(tables, labels_of(*names, unit=""))
    means = tables["prior_scales"].query("output == 0")["mean"]
    bars = [bar for bar in figure.axes[1].patches if isinstance(bar, Rectangle)]
    assert sum(bar.get_height() for bar in bars) == pytest.approx(100)
    assert bars[0].get_x() == pytest.approx(means.min())
    assert len([line for line in figure.axes[0].get_lines() if len(xy(line)[0])]) == 3
    assert "target" in shown(figure)
    assert "mean over the rows of\nthe largest probability" in shown(figure)
