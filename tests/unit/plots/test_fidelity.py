"""The figure of approximations beside the exact posterior."""

from itertools import pairwise

import numpy as np
from matplotlib.colors import to_hex

from nlobayes.plots.style import BLACK, BLUE
from tests.unit.plots.drawing import draw, shown, xy
from tests.unit.plots.fidelity_tables import fidelity_tables


def test_each_method_has_a_row_and_the_exact_one_is_black() -> None:
    figure = draw("fidelity")
    first, cpu = figure.axes[0], figure.axes[5]
    assert [label.get_text() for label in first.get_yticklabels()] == [
        "hmc",
        "map_ensemble",
        "laplace_full",
    ]
    values = [xy(line)[0][0] for line in first.lines]
    assert values == [0.05, 0.8, 0.2]
    assert [to_hex(line.get_color()).upper() for line in first.lines] == [BLACK, BLUE, BLUE]
    assert [xy(line)[0][0] for line in cpu.lines] == [3200, 45]  # one is not known
    assert cpu.get_xscale() == "log"


def test_shares_are_in_percent() -> None:
    figure = draw("fidelity")
    assert [xy(line)[0][0] for line in figure.axes[3].lines] == [2, 35, 12]


def test_a_method_that_is_far_off_leaves_the_others_apart() -> None:
    """Its axis is logarithmic, and that of shares that are near each other is not."""
    far = {"mean_difference_rms": [0.05, 0.2, 40.0], "sd_ratio_p95": [1.03, 1.9, 50.0]}
    figure = draw("fidelity", {"fidelity": fidelity_tables()["fidelity"].assign(**far)})
    assert [axes.get_xscale() for axes in figure.axes[:2]] == ["log", "log"]
    assert figure.axes[4].get_xscale() == "linear"
    places = [figure.axes[0].transData.transform((value, 0))[0] for value in (0.05, 0.2, 40.0)]
    assert places[1] - places[0] > 0.15 * (places[2] - places[0])
    labels = [label.get_text() for label in figure.axes[0].get_xticklabels()]
    assert {"0.1", "1", "10"} <= {*labels}


def test_the_legend_distinguishes_the_exact_method() -> None:
    (legend,) = draw("fidelity").legends
    entries = zip(legend.get_texts(), legend.get_lines(), strict=True)
    looks = {text.get_text().split(" (")[0]: line for text, line in entries}
    assert {name: line.get_marker() for name, line in looks.items()} == {
        "exact": "D",
        "approximation": "o",
    }


def test_an_exact_run_that_has_not_converged_is_marked() -> None:
    text = shown(draw("fidelity", fidelity_tables("NO", "rhat_f_p99 divergences")))
    assert "the exact run has NOT CONVERGED: rhat_f_p99, divergences" in text
    assert "NOT CONVERGED" not in shown(draw("fidelity"))


def test_labels_of_cpu_times_of_one_decade_do_not_collide() -> None:
    table = fidelity_tables()["fidelity"].assign(cpu_seconds=[23.3, 10.5, 12.0])
    cpu = draw("fidelity", {"fidelity": table}).axes[5]
    ticks = [*cpu.get_xticklabels(), *cpu.get_xticklabels(minor=True)]
    inside = [t for t in ticks if t.get_text() and 10.5 <= t.get_position()[0] <= 23.3]
    boxes = sorted((tick.get_window_extent() for tick in inside), key=lambda box: box.x0)
    assert 1 <= len(boxes) <= 5
    assert all(one.x1 < two.x0 for one, two in pairwise(boxes))


def test_measures_without_values_leave_an_empty_panel() -> None:
    table = fidelity_tables()["fidelity"].assign(cpu_seconds=np.nan)
    assert "not known" in shown(draw("fidelity", {"fidelity": table}))
