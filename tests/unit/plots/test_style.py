"""Bytes, settings and captions that all figures share."""

import subprocess
import sys
from itertools import compress, pairwise
from pathlib import Path
from typing import Any

import jinja2
import matplotlib
import pytest
from docutils.core import publish_parts  # type: ignore[import-untyped]
from matplotlib.figure import Figure

from nlobayes.plots import FIGURES, render
from nlobayes.plots.style import house_style, new_figure, spread_log_labels
from tests.refusals import refused

CAPTIONS = Path(__file__).parents[3] / "workflow" / "report"
WILDCARDS = {
    "data": "dataset",
    "rounds": "dataset",
    "landscape": "model",
    "distances": "model",
    "prior_predictive": "model",
    "scan": "grid",
    "differences": "grid",
    "weight_spread": "grid",
    "pulls_by_setting": "grid",
    "speed": "grid",
    "loadings": "grid",
    "fidelity": "approximated",
}
"""What a figure is of, where that is not a run."""


def plain_figure() -> Figure:
    with house_style():
        figure = new_figure(height=2.0)
        figure.subplots().plot([0, 1], [0, 1], label="line")
    return figure


@pytest.mark.parametrize("format", ["svg", "png"])
def test_settings_of_the_user_neither_matter_nor_change(format: str) -> None:
    expected = render(plain_figure(), format)
    mine: dict[Any, Any] = {
        "font.size": 20.0,
        "axes.facecolor": "red",
        "svg.hashsalt": "other",
        "savefig.dpi": 50,
    }
    with matplotlib.rc_context(mine):
        assert render(plain_figure(), format) == expected
        assert {key: matplotlib.rcParams[key] for key in mine} == mine


def test_files_carry_no_date() -> None:
    assert b"<dc:date>" not in render(plain_figure(), "svg")
    assert b"Software" not in render(plain_figure(), "png")


def test_pyplot_is_never_loaded() -> None:
    """Pyplot has global state and wants a display."""
    code = "import sys, nlobayes.plots; sys.exit('matplotlib.pyplot' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("name", [*FIGURES, "workflow"])
def test_captions_are_valid_and_short(name: str) -> None:
    source = (CAPTIONS / f"{name}.rst").read_text(encoding="utf-8")
    wildcards = {WILDCARDS.get(name, "run"): "toy/small/hmc/1"}
    snakemake = {"wildcards": wildcards, "config": {"landing_page": str}}
    text = jinja2.Template(source, undefined=jinja2.StrictUndefined).render(snakemake=snakemake)
    html = publish_parts(text, writer="html", settings_overrides={"halt_level": 2})["body"]
    assert name == "workflow" or "toy/small/hmc/1" in html
    read, _, _style = text.partition(".. raw::")
    assert 30 <= len(read.split()) <= 110


def test_unknown_format_is_refused() -> None:
    with refused("plots.unknown_format", format="pdf", known=["png", "svg"]):
        render(plain_figure(), "pdf")


@pytest.mark.parametrize("ends", [(4e-6, 2e-4), (0.2, 8), (3e-5, 2e-3)])
def test_labels_of_a_short_logarithmic_axis_do_not_collide(ends: tuple[float, float]) -> None:
    with house_style():
        figure = new_figure(height=2)
        axes, *_ = figure.subplots(1, 3)
        axes.set(xscale="log", xlim=ends)
        spread_log_labels(axes.xaxis)
        figure.draw_without_rendering()
    places = (ends[0] <= label.get_position()[0] <= ends[1] for label in axes.get_xticklabels())
    inside = [*compress(axes.get_xticklabels(), places)]
    boxes = [label.get_window_extent() for label in inside]
    assert len(boxes) >= 2
    assert all(left.x1 < right.x0 for left, right in pairwise(boxes))
