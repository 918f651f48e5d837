"""What thinning costs is shown for every step, and the chosen step is marked."""

import numpy as np
from matplotlib.lines import Line2D

from nlobayes.plots.thinning import thinning as draw_thinning
from tests.unit.plots.chain_tables import thinning
from tests.unit.plots.drawing import drawn, shown


def data(line: Line2D) -> np.ndarray:
    return np.asarray(line.get_data())


def test_four_panels_against_the_step() -> None:
    table = thinning()
    figure = drawn(draw_thinning, table.sample(frac=1, random_state=1))
    expected = (
        table["ess_f_median"],
        table["megabytes"],
        100 * (table["rmse"] / table["rmse"][0] - 1),
        table["lppd"] - table["lppd"][0],
    )
    for axes, values in zip(figure.axes, expected, strict=True):
        np.testing.assert_allclose(data(axes.get_lines()[0]), [table["step"], values], atol=1e-12)
        assert axes.get_xscale() == "log"


def test_chosen_step_is_marked_in_every_panel() -> None:
    table = thinning()
    figure = drawn(draw_thinning, table)
    marks = [line for a in figure.axes for line in a.get_lines() if line.get_marker() == "D"]
    assert [data(mark)[0] for mark in marks] == [[5]] * 4
    assert data(marks[0])[1] == table["ess_f_median"][table["step"] == 5].item()
    assert "chosen: n = 5, 93 % of the ESS" in shown(figure)


def test_without_an_rmse_three_panels() -> None:
    """As of classes."""
    table = thinning().assign(rmse=np.nan)
    figure = drawn(draw_thinning, table)
    assert "RMSE" not in shown(figure)
    drops = [data(axes.get_lines()[0])[1] for axes in figure.axes]
    assert len(drops) == 3
    np.testing.assert_allclose(drops[2], table["lppd"] - table["lppd"][0])
