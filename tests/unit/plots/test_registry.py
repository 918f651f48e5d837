"""What holds for every figure of the registry."""

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from nlobayes.plots import FIGURES, render

Draw = Callable[..., Figure]
Tables = dict[str, pd.DataFrame]
Texts = Callable[[Figure], str]


@pytest.mark.parametrize("name", FIGURES)
@pytest.mark.parametrize("format", ["svg", "png"])
def test_equal_tables_give_equal_bytes(name: str, format: str, draw: Draw) -> None:
    figure = draw(name)
    first = render(figure, format)
    assert first.startswith(b"<?xml" if format == "svg" else b"\x89PNG")
    assert render(figure, format) == first
    assert render(draw(name), format) == first


@pytest.mark.parametrize("name", FIGURES)
def test_tables_are_not_modified(name: str, tables: Tables, draw: Draw) -> None:
    before = {table: tables[table].copy() for table in FIGURES[name].tables}
    draw(name)
    for table, copy in before.items():
        pd.testing.assert_frame_equal(tables[table], copy)


UNITS = {
    "trace": ["(nats)", "(standardised units)", "draw"],
    "convergence": ["(dimensionless)", "(draws)", "reference points per bin"],
    "autocorrelation": ["(draws)", "(dimensionless)"],
    "loss": ["epoch", "loss above the lowest (nats per row)", "RMSE (standardised units)"],
    "predicted_vs_true": [r"\mathrm{pb})", "(pb)", "(dex)", "(%)"],
    "residuals": ["(GeV)", "(dex)"],
    "pulls": ["(true − predicted) / sd", "density"],
    "coverage": ["(%)", "(percentage points)", "(standard deviations)"],
    "cases": [r"\mathrm{pb})", "(1/dex)"],
}


@pytest.mark.parametrize("name", FIGURES)
def test_labels_state_units(name: str, draw: Draw, texts: Texts) -> None:
    shown = texts(draw(name))
    assert [unit for unit in UNITS[name] if unit not in shown] == []


@pytest.mark.parametrize("name", FIGURES)
@pytest.mark.parametrize("dpi", [72, 200])
def test_nothing_reaches_beyond_the_page(name: str, dpi: int, draw: Draw) -> None:
    """At the resolution of SVG and at that of PNG."""
    figure = draw(name)
    figure.set_dpi(dpi)
    inches = figure.get_tightbbox()
    width, height = figure.get_size_inches()
    assert inches.x0 >= -0.01
    assert inches.y0 >= -0.01
    assert inches.x1 <= width + 0.01
    assert inches.y1 <= height + 0.01


def test_rows_that_are_not_finite_are_counted(tables: Tables, draw: Draw, texts: Texts) -> None:
    table = tables["predictions"].copy()
    table.loc[table.index[-3:], "z_epistemic"] = np.nan
    assert "3 of 180 rows are not drawn" in texts(draw("pulls", predictions=table))
