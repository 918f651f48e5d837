"""The figure of approximations beside the exact posterior."""

from matplotlib.colors import to_hex

from nlobayes.plots.style import BLACK, BLUE
from tests.unit.plots.drawing import draw, xy
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
