"""A finished study grows: only what is new is computed, and what was there stays as it was."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import xarray as xr

if TYPE_CHECKING:
    from tests.workflow.conftest import Project

pytestmark = pytest.mark.workflow

MODEL = "tiny/n4/fan_in/tolerance_10/tiny"
RUN = f"{MODEL}/tiny/s1"
POSTERIOR = f"results/posterior/{RUN}.nc"
AGREEMENT = f"results/metrics/agreement/tiny/{MODEL}/s1.json"
AFTER_ASSEMBLE = dict.fromkeys(
    (
        *(
            "diagnose",
            "thin",
            "posterior_predictive",
            "evaluate",
            "export",
            "tabulate",
            "plot",
            "all",
        ),
        *("tabulate_chains", "plot_chains"),
    ),
    1,
)
PLANE = {"landscape": 1, "plot_landscape": 1}  # three MAPs span one
COMPARED = {"compare": 1, "plot_scan": 1, "plot_differences": 1, "plot_pulls_by_setting": 1}
GROUPS = ("posterior", "sample_stats", "all_sample_stats", "warmup_sample_stats", "predictions")


def sampler(**changes: Any) -> dict[str, Any]:
    """Change the sampler of the tiny study."""
    return {"methods": {"tiny": changes}}


@pytest.mark.slow
def test_another_chain_runs_its_own_jobs_only(tiny: Project, tmp_path: Path) -> None:
    changes = sampler(chains=3)
    new = {"pretrain": 1, "warmup": 1, "draw": 1, "assemble": 1}
    assert tiny.planned(changes=changes) == new | AFTER_ASSEMBLE | PLANE
    three = tiny.grow(tmp_path / "project", POSTERIOR, changes)
    for name in GROUPS:
        before, after = tiny.group(name, POSTERIOR), three.group(name, POSTERIOR)
        assert after.sizes["chain"] == 3
        xr.testing.assert_identical(before, after.isel(chain=slice(2)))
    chains = three.group("predictions", POSTERIOR)["f"].values
    assert len({chain.tobytes() for chain in chains}) == 3


@pytest.mark.slow
def test_another_segment_runs_its_own_jobs_only(tiny: Project, two_segments: Project) -> None:
    planned = tiny.planned(changes=sampler(segments=2))
    assert planned == {"draw": 2, "assemble": 1} | AFTER_ASSEMBLE
    for name in ("posterior", "sample_stats", "all_sample_stats", "predictions"):
        before, after = tiny.group(name, POSTERIOR), two_segments.group(name, POSTERIOR)
        assert after.sizes["draw"] == 2 * before.sizes["draw"]
        xr.testing.assert_identical(before, after.isel(draw=slice(before.sizes["draw"])))


@pytest.mark.slow
def test_two_segments_are_one_long_run_bit_for_bit(
    tiny: Project, two_segments: Project, tmp_path: Path
) -> None:
    long = tiny.copy_to(tmp_path / "project")
    built = long.built(POSTERIOR, changes=sampler(draws_per_segment=120))
    assert built == {"draw": 2, "assemble": 1}
    for name in GROUPS:
        of_two, of_long = (project.group(name, POSTERIOR) for project in (two_segments, long))
        xr.testing.assert_identical(of_two, of_long)
    for chain in range(2):
        folder = f"results/chains/{RUN}/{chain}"
        end_of_two = two_segments.group("state", f"{folder}/segment_1.nc")
        xr.testing.assert_identical(end_of_two, long.group("state", f"{folder}/segment_0.nc"))


@pytest.mark.slow
def test_another_sampler_runs_its_own_jobs_only(tiny: Project, tmp_path: Path) -> None:
    """With two samplers of one posterior, their agreement is judged."""
    nuts = {
        "kernel": {"kind": "nuts", "max_depth": 3},
        "warmup": {"steps": 60},
        "chains": 2,
        "draws_per_segment": 60,
        "thin": 4,
    }
    changes = {"methods": {"nuts": nuts}, "grids": {"tiny": {"method": ["tiny", "nuts"]}}}
    new = {"warmup": 2, "draw": 2, "assemble": 1, "agree": 1}  # from the same MAPs
    assert tiny.planned(changes=changes) == new | AFTER_ASSEMBLE | COMPARED
    project = tiny.copy_to(tmp_path / "project")
    before = project.digests()
    assert project.built(AGREEMENT, changes=changes) == new
    after = project.digests()
    assert before.items() <= after.items()
    new_posterior = f"results/posterior/{MODEL}/nuts/s1.nc"
    assert {AGREEMENT, new_posterior} <= set(after) - set(before)
    assert project.group("sample_stats", new_posterior)["tree_depth"].max() <= 3
