"""A program in rounds: each point once, further points by the posterior, no round after the target.

The program is awk, the network as small as that of the tiny study, its posterior approximate.
"""

from __future__ import annotations

import json
import os
import random
import signal
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq
import pytest

if TYPE_CHECKING:
    from tests.workflow.conftest import Project

pytestmark = pytest.mark.workflow

RUN = "bought{}/n4/fan_in/tolerance_10/tiny/laplace_one/s1"
CALLS = "calls.txt"
PROGRAM = """#!/bin/sh
echo call >> "$(readlink -f marks)/../calls.txt"
awk -v a="$1" 'BEGIN {print 1 + a * a}'
"""
DATASET: dict[str, Any] = {
    "source": {
        "kind": "program",
        "program": {
            "command": ["sh", "square.sh", "{a}"],
            "version": "1",
            "output": {"kind": "number", "column": "y", "unit": ""},
            "files": ["square.sh", "marks"],
        },
        "design": {"kind": "sobol", "points": 20, "ranges": {"a": {"low": -1, "high": 1}}},
        "chunk": 50,
        "rounds": {"most": 1, "points": 6, "held_out": 80, "target": {"median": 0.9, "p95": 0.95}},
    },
    "features": {"columns": ["a"], "map": "raw", "units": {}},
    "target": {"column": "y", "unit": "", "scale": "identity"},
    "split": {"column": "split"},
    "reference_points": 20,
}
HARD = {"datasets": {"bought": {"source": {"rounds": {"target": {"median": 1e-6, "p95": 1e-6}}}}}}


def bought(unbuilt: Project, folder: Path) -> Project:
    """Configure a project whose program counts its calls."""
    project = unbuilt.copy_to(folder)
    (project.root / "square.sh").write_text(PROGRAM)
    (project.root / "marks").mkdir()  # is linked, so that calls are counted beside it
    grid = {"dataset": "bought", "network": "n4", "prior": "fan_in", "method": "laplace_one"}
    grid |= {"likelihood": "tolerance_10", "pretraining": "tiny", "outputs": "surrogates"}
    (project.root / CALLS).touch()
    pretraining = {"tiny": {"epochs": 20, "batch": "full"}}
    datasets, grids = {"bought": DATASET}, {"bought": grid}
    project.configure(
        {"datasets": datasets, "pretraining": pretraining, "grids": grids, "targets": ["bought"]}
    )
    return project


def calls(project: Project) -> int:
    return len((project.root / CALLS).read_text().splitlines())


@pytest.mark.slow
def test_a_posterior_chooses_the_points_of_the_second_round(
    unbuilt: Project, tmp_path: Path
) -> None:
    project = bought(unbuilt, tmp_path / "project")
    project.snakemake(changes=HARD)
    assert calls(project) == 106
    last = json.loads((project.root / "results/rounds/bought_1.json").read_text())
    assert not last["met"]
    assert [one["points"] for one in last["rounds"]] == [20, 24]
    assert [one["validation"] for one in last["rounds"]] == [80, 82]
    assert (project.root / f"results/surrogates/{RUN.format('_1')}.nc").is_file()
    assert project.planned(changes=HARD) == {}, "a finished study plans nothing"


@pytest.mark.slow
def test_rounds_end_at_the_target_and_go_on_for_a_harder_one(
    unbuilt: Project, tmp_path: Path
) -> None:
    project = bought(unbuilt, tmp_path / "project")
    project.snakemake()
    assert calls(project) == 100
    first = json.loads((project.root / "results/rounds/bought.json").read_text())
    assert first["met"]
    assert (first["rounds"][0]["points"], first["rounds"][0]["validation"]) == (20, 80)
    assert not (project.root / "results/rounds/bought_1.json").exists()
    assert project.planned() == {}, "a finished study plans nothing"

    project.snakemake(changes=HARD)
    assert calls(project) == 106, "the program is called at the points of the new round alone"
    second = json.loads((project.root / "results/rounds/bought_1.json").read_text())
    assert not second["met"]
    assert [one["points"] for one in second["rounds"]] == [20, 24]
    table = pq.read_table(project.root / "results/tables/bought_1.parquet").to_pydict()
    assert (table["split"][:100], len(table["a"])) == (
        pq.read_table(project.root / "results/tables/bought.parquet").to_pydict()["split"],
        106,
    )
    assert sorted(table["split"][100:]) == [
        "test",
        "train",
        "train",
        "train",
        "train",
        "validation",
    ]
    assert [round(1 + a * a, 5) for a in table["a"]] == [round(y, 5) for y in table["y"]]
    assert (project.root / f"results/surrogates/{RUN.format('_1')}.nc").is_file()
    start = project.group(
        "history",
        f"results/pretrain/{RUN.format('_1')}".replace("/laplace_one/s1", "/s1") + "/0.nc",
    )
    before = project.group(
        "state", f"results/pretrain/{RUN.format('')}".replace("/laplace_one/s1", "/s1") + "/0.nc"
    )
    assert start["path"][0].values == pytest.approx(before["position"].values, rel=1e-6)
    assert project.planned(changes=HARD) == {}


@pytest.mark.slow
def test_rounds_that_are_killed_end_in_the_same_bytes(unbuilt: Project, tmp_path: Path) -> None:
    whole = bought(unbuilt, tmp_path / "whole")
    whole.snakemake(changes=HARD)
    killed = bought(unbuilt, tmp_path / "killed")
    chance = random.Random(5)
    for number in range(4):
        log = tmp_path / f"{number}.log"
        command = ["snakemake", *killed._configfile(HARD), "--rerun-incomplete"]
        running = killed.start(*command, log=log)
        time.sleep(chance.uniform(3, 25))
        os.killpg(running.pid, signal.SIGKILL)
        running.wait()
        killed.run("snakemake", "--unlock")
    killed.snakemake("--rerun-incomplete", changes=HARD)
    assert calls(killed) <= calls(whole) + 4 * 2, "at most the point at work is called again"
    names = ("results/tables", "results/rounds", "results/surrogates")
    assert [killed.digests(name) for name in names] == [whole.digests(name) for name in names]
