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


def test_an_exact_run_that_has_not_converged_is_said_so() -> None:
    said = shown(draw("fidelity", fidelity_tables("NO", "rhat_f_p99 divergences")))
    assert "the exact run has NOT CONVERGED: rhat_f_p99, divergences" in said
    assert "NOT CONVERGED" not in shown(draw("fidelity"))


def test_labels_of_cpu_times_of_one_decade_do_not_collide() -> None:
    table = fidelity_tables()["fidelity"].assign(cpu_seconds=[23.3, 10.5, 12.0])
    cpu = draw("fidelity", {"fidelity": table}).axes[5]
    ticks = [*cpu.get_xticklabels(), *cpu.get_xticklabels(minor=True)]
    inside = [t for t in ticks if t.get_text() and 10.5 <= t.get_position()[0] <= 23.3]
    boxes = sorted((tick.get_window_extent() for tick in inside), key=lambda box: box.x0)
    assert 1 <= len(boxes) <= 5
    assert all(one.x1 < two.x0 for one, two in pairwise(boxes))


def test_measures_that_nobody_knows_leave_an_empty_panel() -> None:
    table = fidelity_tables()["fidelity"].assign(cpu_seconds=np.nan)
    assert "not known" in shown(draw("fidelity", {"fidelity": table}))
