"""Signs, units and outliers of predictions against the truth."""

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

Draw = Callable[..., Figure]
Tables = dict[str, pd.DataFrame]
Texts = Callable[[Figure], str]
Invented = Callable[..., Tables]


def test_residuals_are_predicted_minus_true_against_absolute_mass(
    tables: Tables, draw: Draw
) -> None:
    table = tables["predictions"].assign(mean_log10=lambda t: t["target_log10"] + 0.01)
    axes = draw("residuals", predictions=table).axes[0]
    mass, residual = np.asarray(axes.get_lines()[0].get_data())
    test = table[table["split"] == "test"]
    np.testing.assert_allclose(mass, test["mass_gev"].abs())
    np.testing.assert_allclose(residual, 0.01, rtol=1e-9)


@pytest.mark.statistical
def test_running_bands_hold_their_share(draw: Draw, invented_tables: Invented) -> None:
    """Median over 100 bins of the quantiles of 200 normal residuals: within 5 % of the exact."""
    rng = np.random.default_rng(7)
    table = invented_tables(points=20_000)["predictions"]
    table["mean_log10"] = table["target_log10"] + 0.02 * rng.normal(size=len(table))
    axes = draw("residuals", predictions=table).axes[0]
    for band, k in zip(axes.collections, (1.95996, 0.99446), strict=True):
        heights = np.asarray(band.get_paths()[0].vertices)[:, 1]
        assert abs(np.median(heights[heights > 0]) / (0.02 * k) - 1) < 0.05
        assert abs(np.median(heights[heights < 0]) / (-0.02 * k) - 1) < 0.05


def test_outliers_stay_visible_at_the_edge(tables: Tables, draw: Draw, texts: Texts) -> None:
    table = tables["predictions"].copy()
    outlier = table.index[-1]
    table.loc[outlier, "mean_log10"] = table.loc[outlier, "target_log10"] + 3.0
    figure = draw("residuals", predictions=table)
    assert figure.axes[0].get_ylim()[1] < 3.0
    assert "1 beyond the axis" in texts(figure)


def test_relative_deviation_is_in_percent(tables: Tables, draw: Draw) -> None:
    table = tables["predictions"].assign(median_pb=lambda t: 1.05 * t["target_pb"])
    deviation = draw("predicted_vs_true", predictions=table).axes[3].get_lines()[0].get_ydata()
    np.testing.assert_allclose(np.asarray(deviation), 5.0, rtol=1e-9)


def test_few_points_have_error_bars_and_many_have_none(
    draw: Draw, invented_tables: Invented
) -> None:
    few = draw("predicted_vs_true")
    many = draw("predicted_vs_true", **invented_tables(points=200))
    assert [len(axes.collections) for axes in few.axes] == [1, 1, 1, 1]
    assert [len(axes.collections) for axes in many.axes] == [0, 0, 0, 0]
