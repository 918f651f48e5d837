"""The `ci` grid: all chains in one job, MAPs that span a plane, files too big to be tiny."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.workflow.conftest import Project

pytestmark = [pytest.mark.workflow, pytest.mark.slow]

RUN = "embedded_small/n16/fan_in/tolerance_10/adam/hmc_ci/s1"
MODEL = "embedded_small/n16/fan_in/tolerance_10/adam/s1"
CHAINS, DRAWS = 4, 500


def metrics(project: Project, name: str) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(
        (project.root / f"results/metrics/{RUN}/{name}.json").read_text()
    )
    return content


def test_all_chains_share_a_job_and_their_maps_a_landscape(ci: Project) -> None:
    made = ci.digests()
    segments = [path for path in made if path.startswith(f"results/chains/{RUN}/")]
    assert segments == [f"results/chains/{RUN}/0/{part}_0.nc" for part in ("segment", "warmup")]
    drawn = {Path(p).name for p in made if p.startswith(f"results/figures/landscape/{MODEL}/")}
    assert drawn == {
        f"{figure}.{end}" for figure in ("landscape", "distances") for end in ("svg", "png")
    }
    html = (ci.root / "report.html").read_text()
    assert f"results/figures/landscape/{MODEL}/landscape.svg" in html


def test_finished_run_has_nothing_to_do(ci: Project) -> None:
    assert ci.planned("ci") == {}


def test_big_files_are_judged_by_content_not_by_time(ci: Project, tmp_path: Path) -> None:
    """As after `dvc pull`: every file older than its inputs, some too big for the default limit."""
    project = ci.copy_to(tmp_path / "project")
    posterior = project.root / f"results/posterior/{RUN}.nc"
    assert posterior.stat().st_size > 1e6
    for path in (project.root / "results").rglob("*"):
        os.utime(path, times=(1e9, 1e9))
    os.utime(posterior)
    assert project.planned("ci") == {}


def test_chains_agree_as_well_as_a_short_run_shows(ci: Project) -> None:
    """The grid is too short for the verdict.

    Limits have room, for another processor draws other chains. In 24 runs by two versions of JAX
    the slowest point had 26 to 218 effective draws, 98 in the median, and R-hat was at most 1.105.
    One of them had a divergence.
    """
    found = metrics(ci, "diagnostics")
    assert (found["chains"], found["draws_per_chain"], found["exact"]) == (CHAINS, DRAWS, True)
    assert found["rhat_f_median"] <= 1.01
    assert found["rhat_f"] <= 1.12
    assert found["rhat_log_density"] <= 1.03
    assert found["ess_f"] > 20
    assert found["divergences"] <= 1


def test_surrogate_is_accurate_and_calibrated(ci: Project) -> None:
    test = metrics(ci, "evaluation")["test"]
    assert test["r2_log10"] > 0.95
    assert 0.88 < test["coverage_95"] <= 1
