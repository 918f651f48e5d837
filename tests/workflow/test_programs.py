"""A program of the user, from the real Snakefile to its table: points are computed once."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from nlobayes.artifacts.contents import read_dataset
from nlobayes.artifacts.point_store import read_point
from nlobayes.data.table_files import read_table

if TYPE_CHECKING:
    from tests.workflow.conftest import Project

pytestmark = pytest.mark.workflow

TABLE, DATASET = "results/tables/tiny.parquet", "results/data/tiny.nc"
SCRIPT = """\
echo "$2" >> "$(dirname "$(readlink -f folder)")/../../counter"
sleep 0.05
awk -v a="$(sed -n 's/^a = //p' "$1")" 'BEGIN { if (a > 0.9) exit 4; print "sum =", a + 1, "pb" }'
"""
POINTS, CHUNK = 40, 20
JOBS = {"design": 1, "run_program": 2, "gather": 1, "prepare": 1}


def study(version: str = "1", points: int = POINTS, **output: str) -> dict[str, Any]:
    """State a dataset whose program adds one to a column, and fails above 0.9."""
    program = {
        "command": ["sh", "add.sh", "{input}", "{a}"],
        "version": version,
        "input": {"kind": "template", "file": "program/point.txt"},
        "output": {"kind": "pattern", "pattern": r"sum = (\S+) pb", "column": "sum"}
        | {"unit": "pb"}
        | output,
        "files": ["program/add.sh", "program/folder"],
    }
    design = {"kind": "sobol", "points": points, "ranges": {"a": {"low": 0, "high": 1}}}
    source = {"kind": "program", "program": program, "design": design, "chunk": CHUNK}
    dataset = {
        "source": source,
        "features": {"columns": ["a"], "map": "raw", "units": {}},
        "target": {"column": "sum"},
        "split": {"train": 0.6, "validation": 0.2, "test": 0.2},
        "reference_points": 4,
    }
    return {"datasets": {"tiny": dataset}}


def prepared(unbuilt: Project, folder: Path) -> Project:
    """Copy the project and write the program into it; a counter gets a line of each call."""
    project = unbuilt.copy_to(folder)
    (project.root / "program/folder").mkdir(parents=True)
    (project.root / "program/add.sh").write_text(SCRIPT)
    (project.root / "program/point.txt").write_text("a = {a}\n")
    project.configure(study())
    return project


def calls(project: Project) -> Counter[str]:
    counter = project.root.parent / "counter"
    return Counter(counter.read_text().split() if counter.exists() else [])


def finished(project: Project) -> set[str]:
    """List the points that are stored."""
    found = map(read_point, project.root.glob("points/*/??/*.json"))
    return {facts["arguments"][-1] for facts in found if facts}


@pytest.fixture(scope="module")
def built(unbuilt: Project, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """The finished dataset of a program; tests do not write into it."""
    project = prepared(unbuilt, tmp_path_factory.mktemp("program") / "project")
    assert project.built(DATASET) == JOBS
    return project


def test_the_table_has_the_results_and_the_failures_are_listed(built: Project) -> None:
    table = read_table(built.root / TABLE)
    failures = read_table(built.root / "results/points/tiny/failures.csv")
    failed = failures.columns["a"]
    assert (failed > 0.9).all()
    assert len(failed) == POINTS - len(table.columns["a"]) > 0
    np.testing.assert_allclose(table.columns["sum"], table.columns["a"] + 1, rtol=1e-5)
    assert table.units["sum"] == "pb"
    dataset = read_dataset(built.root / DATASET)
    assert len(dataset.target) == len(table.columns["a"])
    assert max(calls(built).values()) == 1
    assert len(calls(built)) == POINTS
    log = (built.root / "logs/gather/tiny.log").read_text()
    assert f"{len(failed)} of {POINTS} points, first point" in log
    verified = built.run("nlobayes", "verify", DATASET).stdout
    assert f"{TABLE} <- gather of results/points/tiny/0.parquet" in verified


@pytest.mark.slow
def test_only_what_changes_a_point_computes_it_again(built: Project, tmp_path: Path) -> None:
    assert built.planned(DATASET) == {}
    more, version = study(points=POINTS + 8), study(version="2")
    assert built.planned(DATASET, changes=version)["run_program"] == 2
    project = built.copy_to(tmp_path / "project")
    assert project.built(DATASET, changes=more) == JOBS | {"run_program": 3}
    assert sum(calls(project).values()) == 8, "the Sobol sequence goes on"
    corrected = study(pattern=r"sum = (\S+)", column="sum")
    assert project.built(DATASET, changes=corrected)["run_program"] == 2
    assert sum(calls(project).values()) == 8, "another pattern reads what is stored"


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_killed_jobs_and_a_killed_snakemake_lose_no_point(
    built: Project,
    unbuilt: Project,
    tmp_path: Path,
    seed: int,
) -> None:
    """The session is killed with all jobs; the programs end as their jobs do."""
    project = prepared(unbuilt, tmp_path / "project")
    chance, kills = random.Random(seed), 0
    for _ in range(2):
        safe, before = finished(project), calls(project)
        process = project.start("snakemake", DATASET, log=tmp_path / "log")
        wait_for_points(project, len(safe) + chance.randrange(1, 4), process)
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            kills += 1
        process.wait()
        time.sleep(0.3)  # a job that is adopted by another session ends with its program
        assert not safe & {*(calls(project) - before)}
    assert kills
    project.run("snakemake", "--unlock")
    project.snakemake(DATASET)
    twice = {point for point, count in calls(project).items() if count > 1}
    assert len(twice) <= 2 * kills, "only points in work are computed again"
    compared = {**project.digests(), **project.digests("points")}
    assert compared == {**built.digests(), **built.digests("points")}


def wait_for_points(project: Project, count: int, process: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + 120
    while len(finished(project)) < count and process.poll() is None and time.monotonic() < end:
        time.sleep(0.02)


def test_a_program_that_is_missing_is_one_line(unbuilt: Project, tmp_path: Path) -> None:
    project = prepared(unbuilt, tmp_path / "project")
    changes = study()
    changes["datasets"]["tiny"]["source"]["program"]["command"] = ["no-such-program", "{a}"]
    project.snakemake(DATASET, changes=changes, status=1)
    (line,) = (project.root / "logs/run_program/tiny/0.log").read_text().splitlines()
    assert line.startswith("nlobayes: error: ")
    assert "program 'no-such-program' is not found" in line
    assert not finished(project)


def test_results_of_one_chunk_are_recorded(built: Project) -> None:
    record = json.loads((built.root / "results/records/run_program/tiny/0.json").read_text())
    assert [*record["inputs"]] == ["results/points/tiny/design.parquet"]
    assert [*record["outputs"]] == ["results/points/tiny/0.parquet"]
