"""The lines of the documentation that open a posterior in ArviZ run as printed."""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from typing import Any

import matplotlib
import matplotlib.pyplot as plt
import pytest
import xarray as xr

ROOT = Path(__file__).parents[3]


@pytest.fixture
def example(run: Any, monkeypatch: pytest.MonkeyPatch) -> str:
    """The section of docs/using.md, of the posterior of the small run."""
    text = (ROOT / "docs/using.md").read_text()
    (code,) = re.findall(r"```python\n(import arviz.+?)```", text, re.DOTALL)
    return re.sub(r'"results/posterior/.+?\.nc"', repr(str(run.posterior)), code)


def test_a_posterior_opens_in_arviz_as_documented(example: str) -> None:
    matplotlib.use("agg")
    found: dict[str, Any] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # ArviZ announces its next version, and few draws
        exec(example, found)
    assert len(plt.get_fignums()) == example.count("az.plot_")
    plt.close("all")
    posterior = found["posterior"]
    stored = posterior.posterior.draw.values
    assert (posterior.sample_stats.draw.values == stored).all()
    assert posterior.all_sample_stats.sizes["draw"] == 4 * len(stored)
    marked = posterior.sample_stats.diverging
    xr.testing.assert_equal(marked, posterior.all_sample_stats.diverging.sel(draw=stored))
    assert marked.any()


def test_variables_say_what_they_are(run: Any, dataset: Any) -> None:
    """Every variable of the posterior has a long name and a unit, and a reference point its row."""
    tree = xr.open_datatree(run.posterior)
    for path in ("posterior", "sample_stats", "predictions", "observed_data", "constant_data"):
        for name, variable in tree[path].data_vars.items():
            assert variable.attrs["units"] == "1", name
            assert variable.attrs["long_name"], name
    for path in ("predictions", "predictions_constant_data"):
        rows = tree[path].to_dataset()["reference_point"].values
        assert rows.tolist() == dataset.reference.tolist()
    weights = tree["posterior"]["weights_2"].attrs["long_name"]
    assert weights == "weights from layer 1 (first axis of the matrix) to layer 2"
    tree.close()
