"""Snakemake itself disturbed: two calls at once, Control-C, a killed chain, a worker without us."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.workflow.conftest import Project
    from tests.workflow.faults.conftest import Workbench

pytestmark = pytest.mark.workflow

RUN = "tiny/n4/fan_in/tolerance_10/tiny/tiny/s1"
POSTERIOR = f"results/posterior/{RUN}.nc"
SEGMENTS = [f"results/chains/{RUN}/{chain}/segment_0.nc" for chain in range(2)]
PATIENCE_SECONDS = 600
Sabotage = Callable[..., dict[str, str]]


@pytest.fixture
def undrawn(tiny: Project, tmp_path: Path) -> Project:
    """The tiny study as it was when both chains had been warmed up."""
    project = tiny.copy_to(tmp_path / "project")
    for path in (POSTERIOR, *SEGMENTS):
        (project.root / path).unlink()
    return project


def start(project: Project, sabotage: Sabotage, fault: str, *words: str) -> subprocess.Popen[bytes]:
    """Start Snakemake, its first chain struck at its segment, and wait for that and the other."""
    plan = sabotage(project.source, words=["draw", SEGMENTS[0]], rename=1, fault=fault)
    log = project.root.with_suffix(".log")
    (project.root / "struck").unlink(missing_ok=True)
    listening = ("env", "--default-signal=INT")  # tests in the background ignore Control-C
    words = (POSTERIOR, "--printshellcmds", *words)  # which has all that Snakemake says
    running = project.start(*listening, "snakemake", *words, log=log, **plan)
    end = time.monotonic() + PATIENCE_SECONDS
    while not ((project.root / "struck").exists() and is_alone(project, log.read_text())):
        assert running.poll() is None or fault == "kill", log.read_text()
        assert time.monotonic() < end
        time.sleep(0.05)
    return running


def is_alone(project: Project, log: str) -> bool:
    """Tell whether the other chain has its segment, and Snakemake knows it."""
    begun, ended = log.count("localrule draw:"), log.count("Finished jobid")
    return (project.root / SEGMENTS[1]).exists() and begun == ended + 1


def ends_as_if_unharmed(project: Project, tiny: Project, kept: dict[str, int]) -> None:
    """Run to the posterior: all as in an undisturbed study, what had been finished untouched."""
    project.snakemake(POSTERIOR)
    assert project.digests() == tiny.digests()
    times = project.times()
    assert {path: times[path] for path in kept} == kept
    assert project.planned(POSTERIOR) == {}


@pytest.mark.slow
def test_a_second_call_is_refused_and_both_signals_keep_what_is_finished(
    undrawn: Project, tiny: Project, sabotage: Sabotage
) -> None:
    """Control-C ends the chain that is at work; SIGTERM to Snakemake lets it end its segment."""
    running = start(undrawn, sabotage, "stall")
    before = undrawn.digests()
    refused = undrawn.run("snakemake", POSTERIOR, status=1)
    assert "Directory cannot be locked" in refused.stdout + refused.stderr
    assert undrawn.digests() == before

    os.killpg(running.pid, signal.SIGINT)
    assert running.wait(PATIENCE_SECONDS) == 1
    kept = undrawn.times()
    assert SEGMENTS[1] in kept
    assert undrawn.planned(POSTERIOR) == {"draw": 1, "assemble": 1}

    running = start(undrawn, sabotage, "stall")
    running.terminate()
    (undrawn.root / "struck").unlink()
    running.wait(PATIENCE_SECONDS)
    kept = undrawn.times()
    assert {*SEGMENTS} <= kept.keys()
    ends_as_if_unharmed(undrawn, tiny, kept)


@pytest.mark.slow
def test_a_chain_killed_for_its_memory_lets_the_others_go_on(
    undrawn: Project, tiny: Project, sabotage: Sabotage
) -> None:
    """The kernel kills with SIGKILL, as is done here."""
    running = start(undrawn, sabotage, "kill", "--keep-going")
    assert running.wait(PATIENCE_SECONDS) == 1
    log = undrawn.root.with_suffix(".log").read_text()
    assert log.count("Error in rule draw") == 1
    kept = undrawn.times()
    assert SEGMENTS[1] in kept
    assert SEGMENTS[0] not in kept
    ends_as_if_unharmed(undrawn, tiny, {path: kept[path] for path in SEGMENTS[1:]})


@pytest.mark.slow
def test_a_worker_without_the_program_fails_and_nothing_is_lost(
    tiny: Project, tmp_path: Path
) -> None:
    """Snakemake is started by a Python beside which there is no `nlobayes`."""
    project = tiny.copy_to(tmp_path / "project")
    (project.root / POSTERIOR).unlink()
    python = bare_environment(tmp_path / "bare")
    path = f"{python.parent}:/usr/bin:/bin"
    failed = project.run(
        "env", f"PATH={path}", python, "-m", "snakemake", POSTERIOR, "--cores", "1", status=1
    )
    log = (project.root / f"logs/assemble/{RUN}.log").read_text()
    assert "nlobayes: command not found" in log
    assert "nlobayes: command not found" in failed.stdout + failed.stderr
    before = project.times()
    ends_as_if_unharmed(project, tiny, before)


def bare_environment(folder: Path) -> Path:
    """Make a virtual environment of the same packages without their programs."""
    programs = Path(sys.executable).parent
    (folder / "bin").mkdir(parents=True)
    (folder / "bin/python").symlink_to(Path(sys.executable).resolve())
    (folder / "lib").symlink_to(programs.parent / "lib")
    shutil.copy(programs.parent / "pyvenv.cfg", folder)
    return folder / "bin/python"


def test_a_worker_whose_jax_cannot_be_loaded_says_so_in_one_line(
    workbench: Workbench, tmp_path: Path
) -> None:
    project = workbench.copy_without_results_of("draw", tmp_path / "project")
    broken = tmp_path / "broken/jax/__init__.py"
    broken.parent.mkdir(parents=True)
    broken.write_text("raise ImportError('libcudart.so.12: cannot open shared object file')")
    before = project.digests()
    path = f"PYTHONPATH={broken.parents[1]}:{project.source}"
    project.run("env", path, "bash", "-c", workbench.commands["draw"], status=1)
    (line,) = (project.root / f"logs/draw/{RUN}/0/0.log").read_text().splitlines()
    assert line.startswith("nlobayes: error: libcudart.so.12: cannot open shared object file: ")
    assert "install the locked environment with `make setup`" in line
    assert project.digests() == before


def test_a_job_with_too_little_memory_to_load_jax_says_so_in_one_line(
    workbench: Workbench, tmp_path: Path
) -> None:
    project = workbench.copy_without_results_of("draw", tmp_path / "project")
    before = project.digests()
    limit = ("prlimit", f"--as={500 << 20}")
    project.run(*limit, "bash", "-c", workbench.commands["draw"], status=1)
    (line,) = (project.root / f"logs/draw/{RUN}/0/0.log").read_text().splitlines()
    assert line.startswith("nlobayes: error: ")
    assert line.endswith("or give the job more memory")
    assert project.digests() == before
