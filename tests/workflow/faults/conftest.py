"""Verbs and Snakemake with faults put into them, on copies of a finished study."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from nlobayes.artifacts.contents import read_map, write_map

if TYPE_CHECKING:
    from tests.workflow.conftest import Project

SABOTAGE = Path(__file__).with_name("sabotage")
RUN = "tiny/n4/fan_in/tolerance_10/tiny/tiny/s1"
OTHER = RUN.replace("s1", "s2")
MODEL = "tiny/n4/fan_in/tolerance_10/tiny/s1"
WRITTEN = re.compile(r"--(?:out|plots|record|table(?= \S+\.csv)) (\S+)")
RECORDS = "results/records"


@dataclass(frozen=True)
class Workbench:
    """A finished study, and a command of each verb that gives results of it."""

    project: Project
    commands: dict[str, str]

    def copy_without_results_of(self, verb: str, folder: Path) -> Project:
        """Copy the study and remove what a verb writes."""
        project = self.project.copy_to(folder)
        for path in WRITTEN.findall(self.commands[verb]):
            found = project.root / path
            shutil.rmtree(found) if found.is_dir() else found.unlink()
        return project

    def made_by(self, verb: str) -> set[str]:
        """Name what a verb writes, the record last."""
        written = WRITTEN.findall(self.commands[verb])
        record = written[-1]
        if not record.startswith(RECORDS):
            return {*written}
        outputs = json.loads((self.project.root / record).read_text())["outputs"]
        return {*outputs, record}


@dataclass(frozen=True)
class Verbs:
    """Runs commands of nlobayes in forks of one process, so that imports cost once."""

    process: subprocess.Popen[str]

    def run(self, project: Project, command: str, rename: int = 0) -> tuple[int, str]:
        """Run a command; kill it at its k-th rename; give its exit status and what it said."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps([str(project.root), command, rename]) + "\n")
        self.process.stdin.flush()
        status, said = json.loads(self.process.stdout.readline())
        return status, said

    def refuse(self, project: Project, command: str) -> str:
        """Run a command that must be refused, and give its one line."""
        before = project.digests()
        status, said = self.run(project, command)
        (line,) = [line for line in said.splitlines() if line.startswith("nlobayes: error: ")]
        assert (status, said.splitlines()[-1]) == (2, line)
        assert "Traceback" not in said
        assert project.digests() == before
        return line


@pytest.fixture(scope="session")
def verbs(tiny: Project) -> Iterator[Verbs]:
    """A process that runs the verbs of the finished study, in the environment that made it."""
    with subprocess.Popen(
        [sys.executable, SABOTAGE / "sitecustomize.py"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=tiny.environment(),
        text=True,
    ) as process:
        yield Verbs(process)


@pytest.fixture(scope="session")
def sabotage() -> Callable[..., dict[str, str]]:
    """Give the environment that puts a fault into every process it concerns."""

    def environment(source: Path, **plan: Any) -> dict[str, str]:
        return {"PYTHONPATH": f"{SABOTAGE}:{source}", "SABOTAGE": json.dumps(plan)}

    return environment


@pytest.fixture(scope="session")
def workbench(tiny: Project, verbs: Verbs, tmp_path_factory: pytest.TempPathFactory) -> Workbench:
    """The tiny study with results of the verbs that it has no need of; tests do not change it."""
    project = tiny.copy_to(tmp_path_factory.mktemp("workbench") / "project")
    commands = recorded(project)
    commands["plot"] = re.sub(r"--figure (?!loss|pulls)\w+", "", commands["plot"])
    add_another_run(project)
    commands |= further(commands)
    for verb in ("check_convergence", "agree", "compare", "landscape", "prior_predictive", "plot"):
        status, said = verbs.run(project, commands[verb])
        assert status == 0, said
    return Workbench(project, commands)


def recorded(project: Project) -> dict[str, str]:
    """Read from Snakemake's records a command of each rule, that of chain 0 where there are two."""
    records = [
        json.loads(path.read_text())
        for path in (project.root / ".snakemake/metadata").rglob("*")
        if path.is_file()
    ]
    found = sorted((record["rule"], record["shellcmd"]) for record in records)
    return dict(reversed(found))


def add_another_run(project: Project) -> None:
    """Add what agree, compare and landscape need: a second run, and a third MAP."""
    for path in project.root.glob(f"results/*/{RUN}*"):
        other = Path(str(path).replace(RUN, OTHER))
        shutil.copytree(path, other) if path.is_dir() else shutil.copy(path, other)
    first, second = (
        read_map(project.root / f"results/pretrain/{MODEL}/{chain}.nc") for chain in range(2)
    )
    third = first._replace(chain=2, position=first.position - 2 * second.position)
    write_map(project.root / f"results/pretrain/{MODEL}/2.nc", third, {})


def further(commands: dict[str, str]) -> dict[str, str]:
    """Spell commands of the verbs that the tiny study has no need of."""
    (spec,) = re.findall(r"--spec '(.*?)'", commands["posterior_predictive"])
    job = json.dumps({**json.loads(spec), "seed": 1})
    prior = json.dumps({**json.loads(job), "covariate": "m1", "draws": 50})
    starts = " ".join(f"--start results/pretrain/{MODEL}/{chain}.nc" for chain in range(3))
    segments = " ".join(
        f"--segment results/chains/{RUN}/{chain}/segment_0.nc" for chain in range(2)
    )
    until = json.dumps({"until": {}})
    return {
        "check_convergence": f"nlobayes check_convergence --spec '{until}' {segments} --out "
        f"results/chains/{RUN}/verdict_0.json --record {RECORDS}/check_convergence/{RUN}/0.json",
        "agree": f"nlobayes agree --posterior results/posterior/{RUN}.nc --posterior "
        f"results/posterior/{OTHER}.nc --out results/metrics/agreement/tiny.json"
        f" --record {RECORDS}/agree/tiny.json",
        "compare": f"nlobayes compare {RUN} {OTHER} --out results/plots/comparison/tiny"
        f" --record {RECORDS}/compare/tiny.json",
        "landscape": f"nlobayes landscape --spec '{job}' --dataset results/data/tiny.nc {starts}"
        f" --plots results/plots/landscape/{MODEL} --record {RECORDS}/landscape/{MODEL}.json",
        "prior_predictive": f"nlobayes prior_predictive --spec '{prior}' --dataset "
        f"results/data/tiny.nc --plots results/plots/prior_predictive/{MODEL}"
        f" --record {RECORDS}/prior_predictive/{MODEL}.json",
    }
