"""Scans and differences: every run is drawn, and warnings name what cannot be compared."""

from functools import partial

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure

from nlobayes.plots.comparison import differences, scan_along
from nlobayes.plots.frames import short_names
from nlobayes.plots.style import RED
from tests.refusals import refused
from tests.unit.plots.drawing import drawn, shown, xy
from tests.unit.plots.prediction_tables import invented_differences, invented_runs

RUNS = invented_runs()
HMC = RUNS[RUNS["kernel"] == "hmc"]
along_warmup = partial(scan_along, along="warmup")


def panel(figure: Figure, title: str) -> Axes:
    (axes,) = (axes for axes in figure.axes if axes.get_title(loc="left") == title)
    return axes


def marked(axes: Axes, *, hollow: bool) -> np.ndarray:
    """Coordinates of the filled or of the hollow markers, axes (run, x and y)."""
    white = to_rgba("white")
    found = [
        np.column_stack(xy(line))
        for line in axes.get_lines()
        if line.get_marker() not in ("None", "|")
        and (to_rgba(line.get_markerfacecolor()) == white) == hollow
    ]
    return np.concatenate(found)


def warning(figure: Figure) -> str:
    title = figure.legends[0].get_title()
    assert title.get_color() == RED
    return title.get_text().removeprefix("None")


def test_every_replicate_is_a_point_and_failed_ones_are_hollow() -> None:
    figure = drawn(along_warmup, HMC)
    axes = panel(figure, "RMSE (dex)")
    for hollow in (False, True):
        rows = HMC[HMC["converged"] != hollow]
        points = marked(axes, hollow=hollow)
        np.testing.assert_allclose(points, rows[["warmup", "rmse_log10"]])
    assert warning(figure) == "not converged: 2 of 15 runs"


def test_an_approximate_run_is_hollow_and_called_so() -> None:
    """Verdicts beside it are texts, as they are read from the table."""
    runs = HMC.assign(converged=["approximate", *["True"] * (len(HMC) - 1)])
    figure = drawn(along_warmup, runs)
    assert warning(figure) == "approximate, convergence does not apply: 1 of 15 runs"
    assert "approximate" in shown(figure)
    assert "not converged" not in shown(figure)


def test_line_is_the_mean_of_the_replicates() -> None:
    axes = panel(drawn(along_warmup, HMC), "acceptance rate")
    (line,) = (line for line in axes.get_lines() if line.get_linestyle() == "-")
    expected = HMC.groupby("warmup")["acceptance_rate"].mean()
    np.testing.assert_allclose(xy(line), [expected.index.to_numpy(), expected.to_numpy()])


def test_bootstrap_intervals_are_bars() -> None:
    axes = panel(drawn(along_warmup, HMC), "R² of log₁₀ target")
    (bars,) = axes.collections
    assert isinstance(bars, LineCollection)
    ends = np.array(bars.get_segments())[:, :, 1]
    np.testing.assert_allclose(ends, HMC[["r2_log10_low", "r2_log10_high"]])


@pytest.mark.parametrize(
    ("settings", "names"),
    [
        (["a/b/c", "a/d/c"], ["b", "d"]),
        (["a/b", "c"], ["a/b", "c"]),
        (["a/b"], ["a/b"]),
        (["x" * 40, "y" * 40], ["x" * 11 + "…" + "x" * 12, "y" * 11 + "…" + "y" * 12]),
    ],
)
def test_short_names(settings: list[str], names: list[str]) -> None:
    assert short_names(settings) == names


def test_differences_have_their_intervals() -> None:
    table = invented_differences(RUNS)
    figure = drawn(differences, table)
    axes = panel(figure, "RMSE (dex)")
    rows = table[table["metric"] == "rmse_log10"]
    (bars,) = axes.collections
    assert isinstance(bars, LineCollection)
    np.testing.assert_allclose(np.array(bars.get_segments())[:, :, 0], rows[["low", "high"]])
    np.testing.assert_allclose(xy(axes.get_lines()[0])[0], rows["difference"])
    assert axes.get_xlabel() == "lower is better"
    assert "difference to hmc_warmup_100, 95 % interval" in shown(figure)
    assert warning(figure) == ""


def test_a_score_of_the_user_has_a_panel_behind_the_others() -> None:
    table = invented_differences(RUNS).replace({"metric": {"crps": "far_below"}})
    figure = drawn(differences, table)
    axes = panel(figure, "far below")
    expected = table.loc[table["metric"] == "far_below", "difference"]
    np.testing.assert_allclose(xy(axes.get_lines()[0])[0], expected)
    assert axes.get_xlabel() == ""
    assert axes is figure.axes[-1]


def test_settings_of_few_replicates_are_counted_not_drawn() -> None:
    table = invented_differences(RUNS)
    first, second, *_ = table["setting"].unique()
    table.loc[table["setting"] == first, ["replicates", "low", "high"]] = [1, np.nan, np.nan]
    lost = ["replicates", "difference", "low", "high"]
    table.loc[table["setting"] == second, lost] = [0, np.nan, np.nan, np.nan]
    figure = drawn(differences, table)
    assert warning(figure).splitlines() == [
        "1 of 9 settings: one replicate: no error bar, no ranking, not drawn",
        "1 of 9 settings share no replicate with the reference",
    ]
    assert len(figure.axes[0].get_yticklabels()) == 7


def test_train_rows_stand_beside_test_rows_as_crosses() -> None:
    figure = drawn(along_warmup, HMC)
    axes = panel(figure, "R² of log₁₀ target")
    crosses = [line for line in axes.get_lines() if line.get_marker() == "x"]
    points = np.concatenate([np.column_stack(xy(line)) for line in crosses])
    np.testing.assert_allclose(points, HMC[["warmup", "train_r2_log10"]])
    (means,) = (line for line in axes.get_lines() if line.get_linestyle() == ":")
    expected = HMC.groupby("warmup")["train_r2_log10"].mean()
    np.testing.assert_allclose(xy(means)[1], expected)
    assert "train rows" in [text.get_text() for text in figure.legends[0].get_texts()]
    for other in set(figure.axes) - {axes}:
        assert not any(len(xy(line)[0]) for line in other.get_lines() if line.get_marker() == "x")


def test_bad_columns_are_named() -> None:
    with refused("plots.no_column_of_runs", column="depth", columns=[*RUNS.columns]):
        scan_along(RUNS, along="depth")
    with refused("plots.no_column_of_runs", column="method"):
        scan_along(RUNS, along="warmup", series="method")
    with refused("plots.no_axis", column="kernel"):
        scan_along(RUNS, along="kernel")
    with refused("plots.no_score"):
        scan_along(RUNS[["setting", "warmup", "converged"]], along="warmup")
