"""The overview of a run: its bars are shares of limits, and its scores are in order."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from nlobayes.plots.overview import LOWEST_SHOWN
from nlobayes.plots.style import RED
from tests.unit.plots.drawing import TABLES, draw


def checks(**passed: tuple[float, float, str, bool]) -> pd.DataFrame:
    names = ("value", "threshold", "bound", "passed")
    rows = [{"check": name, **dict(zip(names, of, strict=True))} for name, of in passed.items()]
    return pd.DataFrame(rows)


def test_a_check_takes_up_its_share_of_the_limit_and_a_failed_one_is_red_and_says_so() -> None:
    """R-hat counts from 1; of a smallest value it is limit over value; zero allowed, zero found."""
    verdict = checks(
        rhat_f=(1.004, 1.01, "at most", True),
        ess_f=(1600.0, 400.0, "at least", True),
        divergences=(0.0, 0.0, "at most", True),
        ebfmi_min=(0.1, 0.3, "at least", False),
    )
    axes: Any = draw("overview", {"verdict": verdict}).axes[1]
    lengths = [bar.get_width() for bar in axes.patches]
    assert lengths == pytest.approx([40, 25, 1, 150])
    texts = [tick.get_text() for tick in axes.get_yticklabels()]
    assert ["FAILED" in text for text in texts] == [False, False, False, True]
    colors = [bar.get_facecolor() for bar in axes.patches]
    assert colors[3] == pytest.approx([int(RED[n : n + 2], 16) / 255 for n in (1, 3, 5)] + [1.0])


def test_a_run_without_chains_says_so() -> None:
    axes = draw("overview", {"verdict": TABLES["verdict"].head(0)}).axes[1]
    assert "no chains" in axes.texts[0].get_text()


def test_the_best_log_score_is_on_top_and_one_far_below_keeps_its_number() -> None:
    table = TABLES["regressors"].assign(lppd=[3.0, 2.5, -100.0, 4.0, np.nan])
    axes = draw("overview", {"regressors": table}).axes[3]
    names = [tick.get_text() for tick in axes.get_yticklabels()]
    assert names == ["gp quick", "this run", "MAPs", "least squares"]
    assert [text.get_text() for text in axes.texts] == ["4.00", "3.00", "2.50", "-100.00"]
    assert axes.get_xlim()[0] < 4 - LOWEST_SHOWN


def test_the_stated_interval_is_the_half_width_of_the_rows() -> None:
    """Of a target learned as log10 in percent: 0.01 dex are 2.3 % on both sides."""
    table = TABLES["predictions"].assign(truth=0.0, mean=0.0, low_68=-0.01, high_68=0.01)
    axes: Any = draw("overview", {"predictions": table}).axes[0]
    upper, lower = (patch.get_data().values for patch in axes.patches)
    assert upper == pytest.approx(2.3, abs=0.05)
    assert lower == pytest.approx(-upper)
