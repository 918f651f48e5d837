"""The errors of each round lie beside the target that they have to meet."""

from typing import cast

import numpy as np
from matplotlib.axes import Axes
from matplotlib.container import ErrorbarContainer

from nlobayes.plots.rounds import rounds as draw_rounds
from tests.unit.plots.data_tables import rounds
from tests.unit.plots.drawing import drawn, shown


def bars_of(axes: Axes) -> list[ErrorbarContainer]:
    return [cast("ErrorbarContainer", each) for each in axes.containers]


def test_errors_in_per_cent_against_the_points() -> None:
    table = rounds()
    [axes] = drawn(draw_rounds, table.sample(frac=1, random_state=1)).axes
    median, most = [each.lines[0] for each in bars_of(axes)]
    np.testing.assert_allclose(np.asarray(median.get_data()), [table["points"], 100 * table["p50"]])
    np.testing.assert_allclose(np.asarray(most.get_data()), [table["points"], 100 * table["p95"]])
    [bars] = bars_of(axes)[1].lines[2]
    first, *_ = bars.get_segments()
    np.testing.assert_allclose(first[:, 1], 100 * table.loc[0, ["p95", "p95_high"]])


def test_a_quantile_without_a_bound_has_no_bar_there() -> None:
    table = rounds().assign(p95_high=np.nan)
    [axes] = drawn(draw_rounds, table).axes
    [bars] = bars_of(axes)[1].lines[2]
    assert [segment[1, 1] for segment in bars.get_segments()] == (100 * table["p95"]).tolist()


def test_the_target_is_named() -> None:
    assert "target, 0.5 %" in shown(drawn(draw_rounds, rounds()))
