"""The paths that rules read and write are those that the list of stages states."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from nlobayes.stages import PIPELINE, inputs_of
from nlobayes.stages.definitions import Place

if TYPE_CHECKING:
    from tests.workflow.conftest import Project

pytestmark = pytest.mark.workflow

PRINTING = """
import json
include: "Snakefile"
made = {each.name: [str(path) for path in each.output] for each in workflow.rules}
print("outputs", json.dumps(made))
"""
JOB = re.compile(r"^rule (\w+):\n    input: (.+)$", re.MULTILINE)
THREE_MAPS = {
    "samplers": {"tiny": {"chains": 3, "segments": 3, "until": {}, "warmup": {"segments": 2}}},
    "grids": {"tiny": {"outputs": "figures", "rivals": ["gp_matern"]}},
}
"""A study that runs every stage of a run: its MAPs span a plane, and verdicts are waited for."""
ELSEWHERE = {
    "simulate",
    "approximate",
    "sample",
    "fidelity",
    "ingest",
    "design",
    "run_program",
    "gather",
    "judge",
    "choose",
    "agree",
    "compare",
    "speed",
    "prior_predictive",
    "tabulate_sizes",
    "plot",
}
"""Stages whose jobs this study does not have, or that read nothing or anything."""


def pattern_of(path: str) -> re.Pattern[str]:
    """Match any value of the wildcards of a path."""
    return re.compile("".join(".+" if n % 2 else re.escape(p) for n, p in enumerate(parts(path))))


def parts(path: str) -> list[str]:
    return re.split(r"{(\w+)}", path)


def unmatched(paths: Iterable[str], patterns: Iterable[str]) -> tuple[set[str], set[str]]:
    """Give the paths that no pattern matches, and the patterns that match no path."""
    paths, compiled = {*paths}, {each: pattern_of(each) for each in patterns}
    found = {(path, each) for path in paths for each in compiled if compiled[each].fullmatch(path)}
    return paths - {path for path, _ in found}, {*compiled} - {each for _, each in found}


def test_rules_write_what_the_stages_state(unbuilt: Project, tmp_path: Path) -> None:
    project = unbuilt.copy_to(tmp_path / "project")
    (project.root / "stages.smk").write_text(PRINTING)
    printed = project.snakemake("--snakefile", "stages.smk", "--list-rules").stdout
    (line,) = [line for line in printed.splitlines() if line.startswith("outputs ")]
    made = json.loads(line.removeprefix("outputs "))
    for name, stage in PIPELINE.items():
        paths = [path for path in made[name] if not path.startswith("results/records/")]
        assert unmatched(paths, stage.outputs) == (set(), set()), name


def test_jobs_read_what_the_stages_state(unbuilt: Project) -> None:
    planned = unbuilt.snakemake("--dry-run", changes=THREE_MAPS)
    read: dict[str, set[str]] = {}
    for rule, paths in JOB.findall(planned.stdout + planned.stderr):
        read.setdefault(rule, set()).update(paths.split(", "))
    for name in {*PIPELINE} - ELSEWHERE:
        unread = {Place.START} if name == "pretrain" else set()  # the MAP of a round before
        assert unmatched(read[name], inputs_of(name)) == (set(), unread), name
