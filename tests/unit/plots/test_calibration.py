"""Pulls, coverage and cases show what their tables say."""

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from scipy.stats import norm

Draw = Callable[..., Figure]
Tables = dict[str, pd.DataFrame]
Texts = Callable[[Figure], str]


def test_pulls_state_the_spread_of_the_test_rows(tables: Tables, draw: Draw, texts: Texts) -> None:
    table = tables["predictions"]
    test = table[table["split"] == "test"]
    shown = texts(draw("pulls"))
    assert rf"total, $\sigma_z$ = {np.std(test['z_total']):.2f}" in shown
    assert rf"epistemic, $\sigma_z$ = {np.std(test['z_epistemic']):.2f}" in shown


def test_pull_reference_is_the_standard_normal(draw: Draw) -> None:
    z, density = np.asarray(draw("pulls").axes[0].get_lines()[0].get_data())
    np.testing.assert_allclose(density, norm.pdf(z), rtol=1e-12)


@pytest.mark.parametrize(("column", "kind"), [(0, "total"), (1, "epistemic")])
def test_coverage_points_and_differences(
    column: int, kind: str, tables: Tables, draw: Draw
) -> None:
    figure = draw("coverage")
    test = tables["coverage"][tables["coverage"]["split"] == "test"]
    for row, expected in ((0, test[kind]), (1, test[kind] - test["nominal"])):
        axes = figure.axes[2 * row + column]
        (line,) = (line for line in axes.get_lines() if line.get_label() == "test")
        np.testing.assert_allclose(np.asarray(line.get_ydata()), 100 * expected, atol=1e-9)


def test_cases_show_the_truth_and_its_distance(tables: Tables, draw: Draw) -> None:
    table = tables["cases"]
    figure = draw("cases")
    for axes, case in zip(figure.axes, ("good", "bad"), strict=True):
        row = table[table["case"] == case].iloc[0]
        assert axes.get_lines()[1].get_xdata()[0] == row["target_log10"]  # type: ignore[index]
        sd = abs(row["target_log10"] - row["mean_log10"]) / row["total_sd_log10"]
        assert (
            axes.get_title(loc="left") == f"{case} case, point {row['point']:.0f}: {sd:.1f} sd off"
        )


def test_histogram_of_a_case_is_a_density_and_ignores_far_tails(tables: Tables, draw: Draw) -> None:
    """One wild draw of 800 must neither stretch the axis nor rescale the histogram."""
    table = tables["cases"].copy()
    usual = draw("cases", cases=table).axes[0]
    table.loc[0, "draw_log10"] = 1e3
    wild = draw("cases", cases=table).axes[0]
    area = sum(
        patch.get_height() * patch.get_width()
        for patch in usual.patches
        if isinstance(patch, Rectangle)
    )
    assert 0.99 <= area <= 1.0 + 1e-12
    np.testing.assert_allclose(wild.get_xlim(), usual.get_xlim(), atol=0.02)
