"""What cannot be sampled stops its job with one line, and what was before it is kept."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import netCDF4
import pytest

from nlobayes.artifacts.seals import seal
from nlobayes.errors import InputError

if TYPE_CHECKING:
    from tests.workflow.conftest import Project

pytestmark = pytest.mark.workflow

RUN = "tiny/n4/fan_in/tolerance_10/tiny/tiny/s1"
MODEL = "tiny/n4/fan_in/tolerance_10/tiny/s1"
POSTERIOR = f"results/posterior/{RUN}.nc"
CHAINS = f"results/chains/{RUN}"
HAS_GPU = Path("/dev/nvidia0").exists() or shutil.which("nvidia-smi") is not None
RESTLESS = {"steps": 1, "mass_matrix": "identity", "initial_step_size": 1e3}


def fail(project: Project, changes: dict[str, Any], log: str) -> str:
    """Run Snakemake without a platform imposed on JAX; give the one error of a log it shows."""
    settings = project.root.parent / "changes.yaml"
    settings.write_text(json.dumps(changes))
    command = ("env", "-u", "JAX_PLATFORMS", "snakemake", POSTERIOR, "--configfile", settings)
    failed = project.run(*command, status=1)
    written = (project.root / log).read_text()
    assert "Traceback" not in written
    (line,) = [line for line in written.splitlines() if line.startswith("nlobayes: error: ")]
    assert line in failed.stdout + failed.stderr
    assert f"a job failed; its log has the reason: {log}" in failed.stderr.splitlines()
    return line


def test_a_gpu_that_is_not_there_stops_the_run(tiny: Project, tmp_path: Path) -> None:
    if HAS_GPU:
        pytest.skip("this machine has a GPU")
    project = tiny.copy_to(tmp_path / "project")
    shutil.rmtree(project.root / "results/pretrain")
    line = fail(project, {"execution": {"device": "gpu"}}, f"logs/pretrain/{MODEL}/0.log")
    asked = {"device": "gpu", "shards": 1, "found": 0}
    assert str(InputError("commands.too_few_devices", where="execution.device", **asked)) in line
    assert (project.root / f"logs/pretrain/{MODEL}/0.log").read_text() == line + "\n"
    assert not list(project.root.glob("results/pretrain/**/*.nc"))


@pytest.mark.slow
def test_a_density_that_is_not_finite_at_any_start_stops_the_run(
    tiny: Project, tmp_path: Path
) -> None:
    project = tiny.copy_to(tmp_path / "project")
    changes = {"likelihoods": {"tolerance_10": {"sigma": 1e-30}}}
    line = fail(project, changes, f"logs/pretrain/{MODEL}/0.log")
    assert f"results/pretrain/{MODEL}/0.nc: the MAP of chain 0: the log density is nan;" in line
    assert not list(project.root.glob("results/pretrain/**/*.nc"))


@pytest.mark.slow
def test_a_chain_that_never_moves_stops_the_run_after_its_warm_up(
    tiny: Project, tmp_path: Path
) -> None:
    project = tiny.copy_to(tmp_path / "project")
    log = f"logs/draw/{RUN}/0/0.log"
    line = fail(project, {"methods": {"tiny": {"warmup": RESTLESS}}}, log)
    assert "draws of chains [0]: chain 0 never moved in 60 steps" in line
    assert sorted(path.name for path in (project.root / CHAINS).glob("*/*")) == 2 * ["warmup_0.nc"]


@pytest.mark.slow
def test_a_chain_that_dies_later_keeps_its_last_good_segment(tiny: Project, tmp_path: Path) -> None:
    """The step size that the second segment of chain 0 continues with is made absurd."""
    project = tiny.copy_to(tmp_path / "project")
    last_good, unborn = f"{CHAINS}/0/segment_0.nc", f"{CHAINS}/0/segment_1.nc"
    with netCDF4.Dataset(project.root / last_good, "a") as file:
        file["tuned/step_size"][:] = 1e3
        spec = file.spec
    seal(project.root / last_good)
    before, times = project.digests(), project.times()
    log = f"logs/draw/{RUN}/0/1.log"
    line = fail(project, {"methods": {"tiny": {"segments": 2}}}, log)
    assert "draws of chains [0]: chain 0 never moved in 60 steps (step size 1e+03" in line
    after, new_times = project.digests(), project.times()
    kept = [f"{CHAINS}/{chain}/{name}_0.nc" for chain in range(2) for name in ("warmup", "segment")]
    assert {path: (after[path], new_times[path]) for path in kept} == {
        path: (before[path], times[path]) for path in kept
    }
    assert unborn not in after

    begin = ("--dataset", "results/data/tiny.nc", "--previous", last_good)
    died = project.run("nlobayes", "draw", "--spec", spec, *begin, "--out", unborn, status=2)
    assert died.stderr.splitlines()[-1] == line
    assert not (project.root / unborn).exists()
