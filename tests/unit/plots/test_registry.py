"""What holds for every figure of the registry, and of its one list."""

from importlib import import_module
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from matplotlib.text import Text

from nlobayes.figures import ALL
from nlobayes.plots import FIGURES, render
from nlobayes.plots.style import RED
from tests.unit.plots.chain_tables import calibration_checks, verdict
from tests.unit.plots.drawing import TABLES, draw, every_table, shown

CAPTIONS = Path(__file__).parents[3] / "workflow/report"
OF_NO_FIGURE = {"workflow", "runs"}
"""Captions of the first page, and of a table."""
PRISTINE = every_table()
WARNINGS = (
    f"NOT CONVERGED: {', '.join(verdict()['check'])} failed",
    f"CALIBRATION FAILED: {', '.join(calibration_checks()['check'])} failed",
)
"""All checks failed: three lines, the most there are."""
RUN = "run embedded/n32/fan_in/tolerance_5/adam/hmc/s1, target sigma_pb"

UNITS = {
    "data": ["m1 (GeV)", "sigma_pb (pb)", "share of rows", "sigma_pb / reference"],
    "rounds": ["points of the program", "(%)", "target, 2 %"],
    "verdict": ["value", "at most 1.05", "0.9 to 1.1"],
    "trace": ["(nats)", "(standardised units)", "draw"],
    "speed": ["time (s)", "time (ms)", "parameters"],
    "loadings": ["(ms)", "loadings (%)", "parameters, median"],
    "convergence": ["(draws)", "reference points per bin", "(%)"],
    "autocorrelation": ["(draws)"],
    "divergences": ["|m1| (GeV)", "/ sd"],
    "thinning": [
        "draws",
        "MB",
        "(%)",
        "(nats per point)",
        "thinning step (draws)",
        "Gaussian noise",
    ],
    "weight_planes": ["relative to its highest"],
    "marginals": ["density", "value of the parameter", "(units of the network)", "= 1.002"],
    "history": ["draw", "value of the weight"],
    "loss": ["epoch", "loss above the lowest (nats per row)", "RMSE (standardised units)"],
    "landscape": ["energy above the lowest (nats per row)", "units of the weights"],
    "distances": ["epoch", "units of the weights"],
    "prior_predictive": ["|m1| (GeV)", "(σ / pb)", "f over target (ratio)", "draws (%)"],
    "overview": ["|m1| (GeV)", "(%)", "(nats per test row)", "share of the limit (%)"],
    "predicted_vs_true": ["σ (pb)", "(dex)", "(%)"],
    "residuals": ["|m1| (GeV)", "(dex)"],
    "residual_histogram": ["(dex)", "(1/dex)"],
    "deciles": ["|m1| (GeV)", "(dex)", "(%)"],
    "curves": ["|m1| (GeV)", "(σ / pb)", "39 draws of f", "3 MAPs"],
    "density": ["|m1| (GeV)", "(σ / pb)", "predictive density (1/dex)", "2.5 and 97.5 %"],
    "bands": ["|m1| (GeV)", "(σ / pb)", "sd"],
    "pulls": ["(true − predicted) / sd", "density"],
    "coverage": ["(%)", "(percentage points)", "(standard deviations)"],
    "levels": ["(%)", "(percentage points)"],
    "pit": ["probability", "density"],
    "conditional": ["|m1| (GeV)", "(dex)", "(median spacing)", "(%)"],
    "scale_ratio": ["|m1| (GeV)", "|error| / scale uncertainty"],
    "cases": ["dex", "/ predicted sd", "(per sd)"],
    "confusion": ["share of the true class (%)", "predicted class", "true class"],
    "reliability": ["correct (%)", "points (%)", "predictive probability", "ECE"],
    "thresholds": ["(%)", "answered", "recall"],
    "sizes": ["units of hidden layer 1", "hidden layers", "probability"],
    "visits": ["mean acceptance (%)", "jumps", "units of hidden layer 1"],
    "size_trace": ["(nats)", "parameters", "draws per bin"],
    "draw_scores": ["RMSE (dex)", "(nats per row)", "draw"],
    "certainty": ["x1 (GeV)", "x2", "largest probability (%)", "(nats)", "test, wrong"],
    "images": ["probability (%) of the predicted class", "wrong,\nmost confident", "true class"],
    "scan": ["RMSE (dex)", "95 % coverage (%)", "warmup", "kernel = nuts"],
    "fidelity": ["(exact sd)", "sd / exact sd", "(%)", "CPU time (s)"],
    "differences": ["RMSE (dex)", "(percentage points)", "lower is better"],
    "weight_spread": ["share of weights below (%)", "(units of the network)"],
    "pulls_by_setting": ["(true − predicted) / sd", "density", "1.50 total, 4.00 epistemic"],
}
NOTHING_TO_DRAW = {
    "weight_planes": TABLES["weight_planes"].head(0),
    "scale_ratio": TABLES["predictions"].assign(error_over_scale=np.nan),
    "divergences": TABLES["divergences"].assign(deviation=np.nan),
    "differences": TABLES["differences"].head(0),
    "weight_spread": TABLES["weight_spread"].head(0),
    "pulls_by_setting": TABLES["pulls_by_setting"].head(0),
}


def red_words(figure: Figure) -> str:
    red = [text.get_text() for text in figure.findobj(Text) if text.get_color() == RED]
    return " ".join(" ".join(red).split())


def assert_on_the_page(figure: Figure) -> None:
    """At the resolution of SVG and at that of PNG."""
    width, height = figure.get_size_inches()
    for dpi in (72, 200):
        figure.set_dpi(dpi)
        box = figure.get_tightbbox()
        assert -0.01 <= box.x0 < box.x1 <= width + 0.01
        assert -0.01 <= box.y0 < box.y1 <= height + 0.01


@pytest.mark.parametrize("name", FIGURES)
@pytest.mark.by_day(10)
def test_equal_tables_give_equal_bytes(name: str) -> None:
    """Whichever format is written first."""
    first, second = draw(name), draw(name)
    svg, png = render(first, "svg"), render(first, "png")
    assert svg.startswith(b"<?xml")
    assert png.startswith(b"\x89PNG")
    assert render(second, "png") == png
    assert render(second, "svg") == svg


@pytest.mark.by_day(23)
@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_fits_its_page_states_units_and_names_its_run_below_everything(name: str) -> None:
    """With as many warnings in red as there can be; it leaves its tables alone."""
    drawn = draw(name, run=RUN, warnings=WARNINGS)
    for table in FIGURES[name].tables:
        pd.testing.assert_frame_equal(TABLES[table], PRISTINE[table])
    words = shown(drawn)
    assert [unit for unit in UNITS[name] if unit not in words] == []
    assert " ".join(WARNINGS) in red_words(drawn)
    assert_on_the_page(drawn)
    (named,) = (text for text in drawn.texts if text.get_text() == RUN)
    foot = named.get_window_extent()
    others = [text for text in drawn.texts if text is not named]
    above = [part.get_tightbbox() for part in (*drawn.axes, *drawn.legends, *others)]
    assert all(box.y0 >= foot.y1 - 0.5 for box in above if box is not None and box.height)


def test_without_a_warning_nothing_is_in_red_and_the_page_is_kept() -> None:
    plain = draw("pulls", run=RUN)
    assert "FAILED" not in red_words(plain)
    assert_on_the_page(plain)


@pytest.mark.parametrize("name", NOTHING_TO_DRAW)
def test_warning_stands_even_where_there_is_nothing_to_draw(name: str) -> None:
    table = {FIGURES[name].tables[0]: NOTHING_TO_DRAW[name]}
    empty = draw(name, table, run=RUN, warnings=WARNINGS)
    assert " ".join(WARNINGS) in red_words(empty)
    assert RUN in shown(empty)
    assert_on_the_page(empty)


def test_scan_without_a_number_has_a_row_per_setting() -> None:
    scanned = pd.DataFrame({"along": [np.nan], "series": [np.nan], "varied": ["method"]})
    rows = draw("scan", {"scanned": scanned})
    assert rows.axes[0].get_ylabel() == "method"
    names = [tick.get_text() for tick in rows.axes[0].get_yticklabels()]
    assert len(names) == TABLES["runs"]["setting"].nunique()


def test_rows_that_are_not_finite_are_counted() -> None:
    table = TABLES["predictions"].copy()
    table.loc[table.index[-3:], "z_total"] = np.nan
    pulls = draw("pulls", {"predictions": table}, warnings=["worse"])
    assert red_words(pulls) == "worse 3 of 180 rows are not drawn: not finite"
    assert_on_the_page(pulls)


def test_every_figure_has_a_function_and_a_caption_and_no_caption_is_left_over() -> None:
    for figure in ALL:
        module, _, function = figure.drawn_by.rpartition(".")
        assert callable(getattr(import_module(f"nlobayes.plots.{module}"), function))
    names = [figure.name for figure in ALL]
    assert sorted([*names, *OF_NO_FIGURE]) == sorted(path.stem for path in CAPTIONS.glob("*.rst"))
