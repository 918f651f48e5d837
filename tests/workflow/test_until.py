"""A run that may stop early: it stops where its chains agree, and says why it stopped or not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import xarray as xr

from nlobayes.artifacts.schemas import SCHEMAS

if TYPE_CHECKING:
    from tests.workflow.conftest import Project

pytestmark = pytest.mark.workflow

RUN = "tiny/n4/fan_in/tolerance_10/tiny/tiny/s1"
POSTERIOR = f"results/posterior/{RUN}.nc"
CHAINS = f"results/chains/{RUN}"
LOOSE = {"rhat_max": 99.0, "ess_min": 1.0}
IMPOSSIBLE = {"rhat_max": 0.5, "ess_min": 1e6}


def until(targets: dict[str, float], segments: int) -> dict[str, Any]:
    """Let the tiny study stop at targets, after at most so many segments."""
    return {"methods": {"tiny": {"until": targets, "segments": segments}}}


def verdict(project: Project, segment: int) -> dict[str, Any]:
    """Read the verdict after a segment."""
    found: dict[str, Any] = json.loads(
        (project.root / CHAINS / f"verdict_{segment}.json").read_text()
    )
    return found


def assert_same_posterior(one: Project, two: Project) -> None:
    """The same in every group; its attributes name the segments that it was made from."""
    for name in SCHEMAS["posterior"]:
        xr.testing.assert_identical(one.group(name, POSTERIOR), two.group(name, POSTERIOR))


@pytest.fixture(scope="module")
def stopped(tiny: Project, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """The tiny run, allowed a second segment that its loose targets do not need."""
    folder = tmp_path_factory.mktemp("stopped") / "project"
    return tiny.grow(folder, POSTERIOR, until(LOOSE, 2))


@pytest.mark.slow
def test_met_targets_leave_later_segments_empty(tiny: Project, stopped: Project) -> None:
    met = verdict(stopped, 0)
    assert (met["met"], met["draws_per_chain"]) == (True, 60)
    limits = {name: check["threshold"] for name, check in met["checks"].items()}
    names = ("f", "log_density")
    assert limits == {f"rhat_{name}": 99.0 for name in names} | {
        f"ess_{name}": 1.0 for name in names
    }
    for chain in range(2):
        drawn, empty = (f"{CHAINS}/{chain}/segment_{k}.nc" for k in range(2))
        for name in ("posterior", "sample_stats", "predictions"):
            assert stopped.group(name, empty).sizes["draw"] == 0
        for name in ("state", "tuned"):
            xr.testing.assert_identical(stopped.group(name, drawn), stopped.group(name, empty))
        log = stopped.root / f"logs/draw/{RUN}/{chain}/1.log"
        assert log.read_text() == f"{CHAINS}/verdict_0.json: converged, nothing to draw\n"
    assert_same_posterior(stopped, tiny)


@pytest.mark.slow
def test_a_stopped_run_is_extended_without_drawing(stopped: Project, tmp_path: Path) -> None:
    expected = {"check_convergence": 1, "draw": 2, "assemble": 1}
    planned = stopped.planned(POSTERIOR, changes=until(LOOSE, 3))
    assert planned == expected
    more = stopped.grow(tmp_path / "project", POSTERIOR, until(LOOSE, 3))
    assert verdict(more, 1)["met"]
    for chain in range(2):
        assert more.group("predictions", f"{CHAINS}/{chain}/segment_2.nc").sizes["draw"] == 0
    assert_same_posterior(more, stopped)
    assert more.planned(POSTERIOR, changes=until(LOOSE, 3)) == {}


@pytest.mark.slow
def test_missed_targets_draw_every_segment(
    tiny: Project, two_segments: Project, tmp_path: Path
) -> None:
    all_drawn = tiny.grow(tmp_path / "project", POSTERIOR, until(IMPOSSIBLE, 2))
    missed = verdict(all_drawn, 0)
    assert (missed["met"], missed["draws_per_chain"]) == (False, 60)
    assert not any(check["passed"] for check in missed["checks"].values())
    assert_same_posterior(all_drawn, two_segments)
