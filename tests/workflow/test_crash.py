"""Jobs killed without warning: no file is ever half there, and the next run ends as if unharmed."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import netCDF4
import numpy as np
import pytest

if TYPE_CHECKING:
    from tests.workflow.conftest import Project

pytestmark = [pytest.mark.workflow, pytest.mark.slow]

RUN = "tiny/n4/fan_in/tolerance_10/tiny/tiny/s1"
POSTERIOR = f"results/posterior/{RUN}.nc"
CHAINS = f"results/chains/{RUN}"
VERBS = ("pretrain", "warmup", "draw")
STUDY_OF_JUMPS = Path(__file__).with_name("architectures.yaml")
RUNS = {"hmc": RUN, "jumps": "tiny/units/fan_in/coarse/tiny/jumps/s1"}
KILLED = [*(("hmc", verb) for verb in VERBS), *(("jumps", verb) for verb in VERBS[1:])]
"""A network of drawn units pretrains as any other."""
DRAWS = {"draws": 12000, "thin": 100}
SAMPLER = {
    "kernel": {"kind": "hmc", "integration_steps": 8},
    "warmup": {"steps": 60},
    "chains": 2,
    "segments": 2,
    "draws_per_segment": DRAWS["draws"],
    "thin": DRAWS["thin"],
}
PATIENCE_SECONDS = 300
Due = Callable[[], bool]


@dataclass(frozen=True)
class Attempt:
    """One start of a verb: what it writes, where it reports, and how long it takes unharmed."""

    process: subprocess.Popen[bytes]
    out: Path
    log: Path
    seconds: float

    def kill(self, due: Due) -> bool:
        """Kill the process group once it is due; tell whether it was still there to be killed."""
        wait_for(lambda: due() or self.process.poll() is not None)
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        return self.process.wait() == -signal.SIGKILL

    def at_share(self, share: float) -> Due:
        """Be due after a share of its time."""
        end = time.monotonic() + share * self.seconds
        return lambda: time.monotonic() > end

    def at_line(self, line: int) -> Due:
        """Be due once its log has a number of lines: it reports ten times while it samples."""
        return lambda: self.log.read_bytes().count(b"\n") >= line

    def at_write(self) -> Due:
        """Be due while it writes."""
        known = set(leftovers(self.out))
        return lambda: bool(set(leftovers(self.out)) - known)


@dataclass(frozen=True)
class Workbench:
    """A finished project, long commands of verbs, and their seconds unharmed."""

    project: Project
    commands: dict[str, list[str]]
    seconds: dict[str, float]
    unharmed: Path

    def start(self, verb: str, folder: Path) -> Attempt:
        """Start a verb with a cache of compiled functions of its own."""
        folder.mkdir(parents=True, exist_ok=True)
        out, log, cache = folder / f"{verb}.nc", folder / "log", folder / "cache"
        command: list[str | Path] = [*self.commands[verb], "--out", out]
        process = self.project.start(*command, log=log, JAX_COMPILATION_CACHE_DIR=str(cache))
        return Attempt(process, out, log, self.seconds.get(verb, 0.0))

    def finish(self, verb: str, folder: Path) -> bytes:
        """Let a verb run to its end and give what it wrote."""
        attempt = self.start(verb, folder)
        assert attempt.process.wait(PATIENCE_SECONDS) == 0, attempt.log.read_text()
        return attempt.out.read_bytes()


def made_of(run: str) -> dict[str, str]:
    """Name what each verb writes of chain 0."""
    *model, _, seed = run.split("/")
    return {
        "pretrain": f"results/pretrain/{'/'.join([*model, seed])}/0.nc",
        "warmup": f"results/chains/{run}/0/warmup_0.nc",
        "draw": f"results/chains/{run}/0/segment_0.nc",
    }


def long_commands(project: Project, run: str) -> dict[str, list[str]]:
    """Make the verbs of chain 0 long enough to be hit while they compute."""
    made = made_of(run)
    specs = {verb: spec_of(project, path) for verb, path in made.items()}
    specs["pretrain"]["pretraining"]["epochs"] = 8000
    specs["warmup"]["warmup"]["steps"] = 10000
    specs["draw"] |= DRAWS
    begin = {
        "pretrain": ["--chain", "0"],
        "warmup": ["--start", made["pretrain"]],
        "draw": ["--previous", made["warmup"]],
    }
    dataset = ["--dataset", "results/data/tiny.nc"]
    return {
        verb: ["nlobayes", verb, "--spec", json.dumps(specs[verb]), *dataset, *begin[verb]]
        for verb in VERBS
    }


def spec_of(project: Project, path: str) -> dict[str, Any]:
    """Read the specification that an artifact was made by."""
    with netCDF4.Dataset(project.root / path) as file:
        spec: dict[str, Any] = json.loads(file.spec)
    return spec


def wait_for(due: Due) -> None:
    """Look every two milliseconds."""
    end = time.monotonic() + PATIENCE_SECONDS
    while not due():
        assert time.monotonic() < end
        time.sleep(0.002)


def leftovers(out: Path) -> Iterator[Path]:
    """Find the temporary files beside a file."""
    return out.parent.glob(f".{out.name}.*")


def moments(verb: str, rng: np.random.Generator) -> list[Callable[[Attempt], Due]]:
    """Draw four moments: anywhere, while it computes, anywhere, while it writes."""
    share, later, line = rng.uniform(0.05, 0.8), rng.uniform(0.3, 0.9), int(rng.integers(1, 10))

    def computing(attempt: Attempt) -> Due:
        return attempt.at_share(later) if verb == "pretrain" else attempt.at_line(line)

    return [
        lambda attempt: attempt.at_share(share),
        computing,
        lambda attempt: attempt.at_share(later - 0.25),
        Attempt.at_write,
    ]


@pytest.fixture(scope="module")
def workbench(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Workbench:
    """A study with a kernel; tests do not write into it."""
    project: Project = request.getfixturevalue({"hmc": "tiny", "jumps": "jumping"}[request.param])
    every = long_commands(project, RUNS[request.param])
    commands = {verb: every[verb] for kernel, verb in KILLED if kernel == request.param}
    return Workbench(project, commands, {}, tmp_path_factory.mktemp("unharmed"))


@pytest.fixture(scope="module")
def jumping(pristine: Project, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Chain 0 of a network whose units are drawn."""
    project = pristine.copy_to(tmp_path_factory.mktemp("jumping") / "project")
    shutil.copy(STUDY_OF_JUMPS, project.root / "config/config.yaml")
    project.configure({"execution": {"chains_per_job": 1}})
    project.snakemake(made_of(RUNS["jumps"])["draw"])
    return project


@pytest.fixture(scope="module")
def unharmed(workbench: Workbench) -> dict[str, bytes]:
    """What each verb writes when it is left alone; notes how long it takes."""

    def run(verb: str) -> bytes:
        begin = time.monotonic()
        written = workbench.finish(verb, workbench.unharmed / verb)
        workbench.seconds[verb] = time.monotonic() - begin
        return written

    with ThreadPoolExecutor(2) as pool:
        verbs = workbench.commands
        return dict(zip(verbs, pool.map(run, verbs), strict=True))


@pytest.mark.parametrize(("workbench", "verb"), KILLED, indirect=["workbench"])
def test_a_verb_killed_at_any_moment_leaves_nothing_half_done(
    workbench: Workbench, unharmed: dict[str, bytes], tmp_path: Path, verb: str
) -> None:
    """Eight kills in two lanes: each start follows a killed one; one lane finds all compiled."""

    def run_lane(lane: int) -> int:
        rng = np.random.default_rng([VERBS.index(verb), lane])
        killed, folder = 0, tmp_path / str(lane)
        if lane:
            shutil.copytree(workbench.unharmed / verb / "cache", folder / "cache")
        for moment in moments(verb, rng):
            attempt = workbench.start(verb, folder)
            killed += attempt.kill(moment(attempt))
            if attempt.out.exists():  # the kill came after the last write
                assert attempt.out.read_bytes() == unharmed[verb]
                attempt.out.unlink()
        assert workbench.finish(verb, folder) == unharmed[verb]
        assert not [*leftovers(attempt.out)]
        return killed

    with ThreadPoolExecutor(2) as pool:
        killed = list(pool.map(run_lane, range(2)))
    assert sum(killed) >= 7


@pytest.mark.parametrize("workbench", ["hmc"], indirect=True)
def test_half_written_cache_of_compiled_functions_changes_nothing(
    workbench: Workbench, unharmed: dict[str, bytes], tmp_path: Path
) -> None:
    """JAX writes its cache in place, so a killed job may leave any part of an entry."""
    shutil.copytree(workbench.unharmed / "draw/cache", tmp_path / "cache")
    entries = [path for path in (tmp_path / "cache").iterdir() if path.name.endswith("-cache")]
    assert entries
    for entry in entries:
        os.truncate(entry, entry.stat().st_size // 2)
    assert workbench.finish("draw", tmp_path) == unharmed["draw"]


@pytest.fixture(scope="module")
def prepared(tiny: Project, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """The tiny study with two segments of many draws, not yet drawn."""
    project = tiny.copy_to(tmp_path_factory.mktemp("prepared") / "project")
    project.configure({"methods": {"tiny": SAMPLER}})
    assert project.planned(POSTERIOR) == {"draw": 4, "assemble": 1}
    return project


@pytest.fixture(scope="module")
def uninterrupted(prepared: Project, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """The same, run to its posterior without interruption."""
    project = prepared.copy_to(tmp_path_factory.mktemp("uninterrupted") / "project")
    project.snakemake(POSTERIOR)
    return project


def test_killed_workflow_keeps_what_was_finished_and_ends_the_same(
    prepared: Project, uninterrupted: Project, tmp_path: Path
) -> None:
    """One job is killed under Snakemake, then twice all of it with every job."""
    project = prepared.copy_to(tmp_path / "project")
    rng, finished = np.random.default_rng(7), dict[str, int]()
    for segment, whole in ((0, False), (1, True), (1, True)):
        snakemake = start_until(project, segment, line=int(rng.integers(1, 10)))
        killed = job_of(snakemake, segment)
        if whole:
            os.killpg(snakemake.pid, signal.SIGKILL)
        else:
            os.kill(killed, signal.SIGKILL)
        snakemake.wait(PATIENCE_SECONDS)
        wait_for(partial(all_gone, snakemake))
        assert not (project.root / CHAINS / f"0/segment_{segment}.nc").exists()
        if whole:
            refused = project.run("snakemake", POSTERIOR, status=1)
            assert "--unlock" in refused.stdout + refused.stderr
            project.run("snakemake", "--unlock")
            finished = {path: project.times()[path] for path in ends(0)} | finished
        else:
            assert snakemake.returncode == 1
            assert "Error in rule draw" in (tmp_path / "project.log").read_text()
    project.snakemake(POSTERIOR)
    made = {path for path in project.digests() if not Path(path).name.startswith(".")}
    assert {path: project.digests()[path] for path in made} == uninterrupted.digests()
    assert {path: project.times()[path] for path in finished} == finished
    assert project.planned(POSTERIOR) == {}


def ends(segment: int) -> list[str]:
    """Name a segment of both chains."""
    return [f"{CHAINS}/{chain}/segment_{segment}.nc" for chain in range(2)]


def start_until(project: Project, segment: int, line: int) -> subprocess.Popen[bytes]:
    """Start Snakemake and wait until a segment of chain 0 has reported a number of times."""
    log = project.root / f"logs/draw/{RUN}/0/{segment}.log"
    log.unlink(missing_ok=True)
    snakemake = project.start("snakemake", POSTERIOR, log=project.root.with_suffix(".log"))
    wait_for(lambda: log.exists() and log.read_bytes().count(b"\n") >= line)
    return snakemake


def job_of(snakemake: subprocess.Popen[bytes], segment: int) -> int:
    """Find the process that draws a segment of chain 0."""
    (job,) = (pid for pid, words in commands(snakemake).items() if ends(segment)[0] in words)
    return job


def all_gone(leader: subprocess.Popen[bytes]) -> bool:
    """Tell whether every process of a session is dead."""
    return not commands(leader)


def commands(leader: subprocess.Popen[bytes]) -> dict[int, list[str]]:
    """List the command line of every process of a session that is still alive."""
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if os.getsid(int(folder.name)) == leader.pid:
                found[int(folder.name)] = (folder / "cmdline").read_text().split("\0")
    return {pid: words for pid, words in found.items() if words != [""]}
