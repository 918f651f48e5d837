"""The page docs/arviz.md runs as printed: plots, LOO, the PyMC model and its samplers."""

from __future__ import annotations

import re
import shutil
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import matplotlib
import matplotlib.pyplot as plt
import pytest
import xarray as xr

from nlobayes.artifacts.netcdf import open_artifact, read_attrs, write_groups

ROOT = Path(__file__).parents[3]


BLOCKS = re.findall(r"```python\n(.+?)```", (ROOT / "docs/arviz.md").read_text(), re.DOTALL)


@pytest.fixture(autouse=True)
def _in_the_project(
    stated_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[None]:
    """A copy of the project whose posterior has every chain twice; ArviZ's LOO needs 25 draws."""
    shutil.copytree(stated_run, tmp_path / "project")
    monkeypatch.chdir(tmp_path / "project")
    posterior = Path("results/posterior/tiny/s1.nc")
    groups, attrs = open_artifact(posterior, "posterior").groups, read_attrs(posterior)
    for name, group in groups.items():
        if "chain" in group.dims:
            again = group.assign_coords(chain=group.chain + group.sizes["chain"])
            groups[name] = xr.concat([group, again], "chain")
    write_groups(posterior, "posterior", groups, attrs)
    matplotlib.use("agg")
    yield
    plt.close("all")


def executed(*blocks: str) -> dict[str, Any]:
    """Run code blocks in order, with a small run and few draws."""
    found: dict[str, Any] = {}
    for block in blocks:
        code = re.sub(r'"results/posterior/.+?\.nc"', '"results/posterior/tiny/s1.nc"', block)
        code = re.sub(r"num_samples=\d+", "num_samples=20", code)
        code = re.sub(r"(draws|tune)=\d+, ?", r"\1=5, ", code).replace("chains=4", "chains=2")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of few draws
            exec(code, found)
    return found


def test_a_posterior_opens_in_arviz_as_documented() -> None:
    opened = executed(BLOCKS[0])
    assert len(plt.get_fignums()) == BLOCKS[0].count("az.plot_") == 4
    posterior = opened["posterior"]
    stored = posterior.posterior.draw.values
    assert (posterior.sample_stats.draw.values == stored).all()
    assert posterior.all_sample_stats.sizes["draw"] == 4 * len(stored)
    marked = posterior.sample_stats.diverging
    xr.testing.assert_equal(marked, posterior.all_sample_stats.diverging.sel(draw=stored))
    assert marked.any()


def test_loo_and_predictive_checks_run_as_documented() -> None:
    """ArviZ still has the file open."""
    found = executed(*BLOCKS[:2])
    assert len(plt.get_fignums()) == 6
    held, rows = found["draws"], found["posterior"].observed_data.sizes["point"]
    stored = found["posterior"].posterior.sizes
    for group in (held.log_likelihood, held.posterior_predictive):
        assert group["target"].shape == (stored["chain"], stored["draw"], rows)


@pytest.mark.slow
def test_every_sampler_runs_as_documented() -> None:
    """The last two blocks: by PyMC, NumPyro and nutpie."""
    found = executed(BLOCKS[0].split("posterior =")[0], "import nlobayes", *BLOCKS[2:])
    for name in ("chains", "by_numpyro", "by_nutpie"):
        drawn = found[name].posterior["weights_1"]
        assert drawn.dims == ("chain", "draw", "feature", "hidden_1")
        assert drawn.shape[:2] == (2, 5)
        assert drawn.std() > 0
