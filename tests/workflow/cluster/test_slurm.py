"""The `ci` grid through a real Slurm that loses jobs: the same bytes as a local run."""

from __future__ import annotations

import os
import re
import signal
import time
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, NamedTuple

import pytest

if TYPE_CHECKING:
    from subprocess import Popen

    from tests.workflow.conftest import Once, Project

pytestmark = pytest.mark.slurm

CHAINS = 4
JOBS = 3 + 3 * CHAINS  # groups data, landscape and scores; a MAP, a warm-up and draws per chain
PATIENCE_SECONDS = 900
SNAKEMAKE = (
    *("snakemake", "ci", "--profile", "profiles/slurm"),
    *("--slurm-init-seconds-before-status-checks", "5"),
    *("--set-resources", "draw:runtime=attempt"),  # minutes
    *("simulate:mem_mb=150*attempt", "prepare:mem_mb=150*attempt"),  # the first is too little
    *("describe:mem_mb=75*attempt", "plot_data:mem_mb=75*attempt"),  # side by side
)
SUBMITTED = re.compile(r"has been submitted with SLURM jobid (\d+)")
OUT_OF_MEMORY = re.compile("exceeded memory limit|oom.kill", re.IGNORECASE)
FAILED = re.compile(r"SLURM-job '(\d+)' failed, SLURM status is: '(\w+)'")
GPU_JOBS = re.compile(r"^rule (\w+):\n(?:    .*\n)*?    resources: .*\bgpu=1\b", re.MULTILINE)


class Finished(NamedTuple):
    """A project whose grid is built, and what Snakemake said meanwhile."""

    project: Project
    said: str


@pytest.fixture(scope="module")
def remote(cluster: None, pristine: Project, tmp_path_factory: pytest.TempPathFactory) -> Finished:
    """The grid built by Slurm: one job is out of memory, one is killed, one hangs past its time."""
    folder = tmp_path_factory.mktemp("remote")
    project, log = pristine.copy_to(folder / "project"), folder / "snakemake.log"
    process = project.start(*SNAKEMAKE, log=log)
    try:
        killed = strike(process, project, signal.SIGKILL)
        strike(process, project, signal.SIGSTOP, spared=killed)
        status = process.wait(PATIENCE_SECONDS)
    finally:
        process.terminate()
    assert status == 0, log.read_text()[-8000:]
    return Finished(project, log.read_text())


def strike(
    snakemake: Popen[bytes], project: Project, blow: signal.Signals, spared: str | None = None
) -> str:
    """Wait until a chain group of a project is being drawn, and send it a signal.

    Returns the chain group, which the next call may spare.
    """
    end = time.monotonic() + PATIENCE_SECONDS
    while snakemake.poll() is None and time.monotonic() < end:
        for folder in Path("/proc").glob("[0-9]*"):
            chain_group = chain_group_drawn_by(folder, project)
            if chain_group not in (None, spared):
                os.kill(int(folder.name), blow)
                return chain_group
        time.sleep(0.2)
    raise AssertionError(
        f"no chain group to send {blow.name}; Snakemake's status: {snakemake.poll()}"
    )


def chain_group_drawn_by(process: Path, project: Project) -> str | None:
    """Name the chain group that a process draws, by the process's folder below /proc."""
    try:
        words = (process / "cmdline").read_text().split("\0")
        place = (process / "cwd").readlink()
    except OSError:  # it has ended meanwhile
        return None
    if place != project.root or words[2:3] != ["draw"]:
        return None
    return words[words.index("--chain-group") + 1]


def test_draws_are_those_of_a_local_run(remote: Finished, once: Once, pristine: Project) -> None:
    local = once("local", lambda folder: pristine.copy_to(folder).snakemake("ci"))
    assert remote.project.digests() == local.digests()
    assert remote.project.planned("ci") == {}


def test_lost_jobs_were_submitted_again(remote: Finished) -> None:
    failed = dict(FAILED.findall(remote.said))
    assert {"FAILED", "TIMEOUT"} == set(failed.values())
    assert OUT_OF_MEMORY.search(remote.said)
    submitted = SUBMITTED.findall(remote.said)
    assert len(set(submitted)) == len(submitted) > JOBS + len(failed)  # a group tells no id
    assert set(failed) < set(submitted)


def test_chains_on_a_gpu_ask_slurm_for_one(pristine: Project) -> None:
    plugin = pytest.importorskip("snakemake_executor_plugin_slurm.utils")
    on_gpu = ("--config", "execution={device: gpu, chains_per_job: all}")
    planned = pristine.run("snakemake", "ci", "--dry-run", "--forceall", *on_gpu).stdout
    assert set(GPU_JOBS.findall(planned)) == {"pretrain", "landscape", "warmup", "draw"}
    assert plugin.set_gres_string(SimpleNamespace(resources={"gpu": 1})) == " --gpus=1"
    assert plugin.set_gres_string(SimpleNamespace(resources={"gpu": 0})) == ""


def test_a_program_is_called_by_jobs_of_the_cluster(
    cluster: None, pristine: Project, tmp_path: Path
) -> None:
    """Its chunks are jobs, and the table has the same bytes as that of a local run."""
    table = "results/tables/program.parquet"
    words = (table, "--configfile", "config/studies/program.yaml")
    far, here = (pristine.copy_to(tmp_path / name / "project") for name in ("far", "here"))
    said = far.snakemake(*words, "--profile", "profiles/slurm").stderr
    here.snakemake(*words)
    assert len(SUBMITTED.findall(said)) >= 5, "a job for each of five chunks"
    assert far.digests("results/tables") == here.digests("results/tables")
