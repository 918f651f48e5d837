"""The one list of figures: every record can be drawn, and is explained."""

import subprocess
import sys
from importlib import import_module
from pathlib import Path

from nlobayes.figures import ALL

CAPTIONS = Path(__file__).parents[2] / "workflow/report"
OF_NO_FIGURE = {"workflow", "runs"}
"""Captions of the first page, and of a table."""


def test_every_figure_has_a_function_and_a_caption_and_no_caption_is_left_over() -> None:
    for figure in ALL:
        module, _, function = figure.drawn_by.rpartition(".")
        assert callable(getattr(import_module(f"nlobayes.plots.{module}"), function))
    names = [figure.name for figure in ALL]
    assert sorted([*names, *OF_NO_FIGURE]) == sorted(path.stem for path in CAPTIONS.iterdir())


def test_planning_loads_nothing_but_the_list() -> None:
    code = "import sys, nlobayes.figures; print(*{name.split('.')[0] for name in sys.modules})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"numpy", "matplotlib", "pydantic", "jax"} & {*done.stdout.split()}
