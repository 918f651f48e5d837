"""Distributions of settings: each in its colour, and no more than can be distinguished."""

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import StepPatch
from scipy.stats import norm

from nlobayes.plots import settings
from tests.unit.plots.drawing import TABLES, drawn, xy

PULLS, WEIGHTS = TABLES["pulls_by_setting"], TABLES["weight_spread"]


def steps(figure: Figure, panel: int) -> list[StepPatch]:
    return [each for each in figure.axes[panel].patches if isinstance(each, StepPatch)]


def labels(figure: Figure) -> list[str]:
    return [text.get_text() for text in figure.legends[0].get_texts()]


def test_pulls_of_every_setting_stand_against_the_normal() -> None:
    figure = drawn(settings.pulls, PULLS)
    for panel, kind in enumerate(("total", "epistemic")):
        rows = PULLS[PULLS["kind"] == kind]
        found = steps(figure, panel)
        assert len({step.get_edgecolor() for step in found}) == 4
        for step, (_, own) in zip(found, rows.groupby("setting", sort=False), strict=True):
            values, edges, _ = step.get_data()
            np.testing.assert_allclose(values, own["density"])
            np.testing.assert_allclose(edges, [*own["low"], 6.0])
        (curve,) = figure.axes[panel].get_lines()
        z, density = xy(curve)
        np.testing.assert_allclose(density, norm.pdf(z))


def test_the_legend_gives_the_spread_of_each_and_the_failed_runs_stand_out() -> None:
    figure = drawn(settings.pulls, PULLS)
    first, *_, last = labels(figure)
    assert first == r"hmc_warmup_100: $\sigma_z$ = 1.50 total, 4.00 epistemic"
    assert last == r"$\mathcal{N}(0, 1)$"
    assert figure.legends[0].get_title().get_text() == "not converged: 1 of 12 runs"


def test_weights_are_shares_below_a_value() -> None:
    figure = drawn(settings.weight_spread, WEIGHTS)
    assert labels(figure) == ["hmc", "laplace", "map_ensemble"]
    for axes, quantity in zip(figure.axes, ("weight", "sd"), strict=True):
        rows = WEIGHTS[WEIGHTS["quantity"] == quantity]
        for line, (_, own) in zip(axes.get_lines(), rows.groupby("setting"), strict=True):
            value, share = xy(line)
            np.testing.assert_allclose(value, own["value"])
            np.testing.assert_allclose(share, 100 * own["share"])
