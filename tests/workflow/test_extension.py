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
AFTER_ASSEMBLE = dict.fromkeys(("diagnose", "thin", "predict", "evaluate", "plot", "all"), 1)
GROUPS = ("posterior", "sample_stats", "warmup_sample_stats", "predictions")


def sampler(**changes: Any) -> dict[str, Any]:
    """Change the sampler of the tiny study."""
    return {"samplers": {"tiny": changes}}


def grow(project: Project, folder: Path, changes: dict[str, Any]) -> Project:
    """Sample with changes in a copy of a finished project, which keeps all its other files."""
    copy = project.copy_to(folder)
    before, times = copy.digests(), modified(copy)
    copy.snakemake(POSTERIOR, changes=changes)
    after, new_times = copy.digests(), modified(copy)
    assert {path for path in before if before[path] != after[path]} == {POSTERIOR}
    assert {path for path in before if times[path] != new_times[path]} == {POSTERIOR}
    return copy


@pytest.fixture(scope="module")
def two_segments(tiny: Project, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """The tiny run, extended by a second segment of 60 draws."""
    return grow(tiny, tmp_path_factory.mktemp("two") / "project", sampler(segments=2))


def modified(project: Project) -> dict[str, int]:
    """Give the modification time of every result."""
    return {path: (project.root / path).stat().st_mtime_ns for path in project.digests()}


def group(project: Project, name: str, path: str = POSTERIOR) -> xr.Dataset:
    """Load a group without its attributes."""
    with xr.open_dataset(project.root / path, group=name) as opened:
        return opened.load().drop_attrs()


def test_another_chain_runs_its_own_jobs_only(tiny: Project, tmp_path: Path) -> None:
    changes = sampler(chains=3)
    new = {"pretrain": 1, "warmup": 1, "draw": 1, "assemble": 1}
    assert tiny.planned(changes=changes) == new | AFTER_ASSEMBLE
    three = grow(tiny, tmp_path / "project", changes)
    for name in GROUPS:
        before, after = group(tiny, name), group(three, name)
        assert after.sizes["chain"] == 3
        xr.testing.assert_identical(before, after.isel(chain=slice(2)))
    chains = group(three, "predictions")["f"].values
    assert len({chain.tobytes() for chain in chains}) == 3


def test_another_segment_runs_its_own_jobs_only(tiny: Project, two_segments: Project) -> None:
    planned = tiny.planned(changes=sampler(segments=2))
    assert planned == {"draw": 2, "assemble": 1} | AFTER_ASSEMBLE
    for name in ("posterior", "sample_stats", "predictions"):
        before, after = group(tiny, name), group(two_segments, name)
        assert after.sizes["draw"] == 2 * before.sizes["draw"]
        xr.testing.assert_identical(before, after.isel(draw=slice(before.sizes["draw"])))


def test_two_segments_are_one_long_run_bit_for_bit(
    tiny: Project, two_segments: Project, tmp_path: Path
) -> None:
    long = tiny.copy_to(tmp_path / "project")
    built = long.built(POSTERIOR, changes=sampler(draws_per_segment=120))
    assert built == {"draw": 2, "assemble": 1}
    for name in GROUPS:
        xr.testing.assert_identical(group(two_segments, name), group(long, name))
    for chain in range(2):
        folder = f"results/chains/{RUN}/{chain}"
        end_of_two = group(two_segments, "state", f"{folder}/segment_1.nc")
        xr.testing.assert_identical(end_of_two, group(long, "state", f"{folder}/segment_0.nc"))


def test_another_sampler_runs_its_own_jobs_only(tiny: Project, tmp_path: Path) -> None:
    """With two samplers of one posterior, their agreement is judged."""
    nuts = {
        "kernel": {"kind": "nuts", "max_depth": 3},
        "warmup": {"steps": 60},
        "chains": 2,
        "draws_per_segment": 60,
        "keep_every": 4,
    }
    changes = {"samplers": {"nuts": nuts}, "grids": {"tiny": {"sampler": ["tiny", "nuts"]}}}
    new = {"pretrain": 2, "warmup": 2, "draw": 2, "assemble": 1, "agree": 1}
    assert tiny.planned(changes=changes) == new | AFTER_ASSEMBLE
    project = tiny.copy_to(tmp_path / "project")
    before = project.digests()
    assert project.built(AGREEMENT, changes=changes) == new
    after = project.digests()
    assert before.items() <= after.items()
    new_posterior = f"results/posterior/{MODEL}/nuts/s1.nc"
    assert {AGREEMENT, new_posterior} <= set(after) - set(before)
    assert group(project, "sample_stats", new_posterior)["tree_depth"].max() <= 3
