"""Functions of the user in a study: a changed file runs again what uses it, and nothing else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.workflow.test_rerun import renamed, since

if TYPE_CHECKING:
    from tests.workflow.conftest import Project

pytestmark = pytest.mark.workflow

EVALUATION = "results/metrics/tiny/n4/fan_in/tolerance_10/tiny/tiny/s1/evaluation.json"
SOURCE = """
import numpy as np

def worst(split):
    return np.abs(split.draws.mean(axis=0) - split.observed).max()

def softsign(xp, x):
    return x / (1 + xp.abs(x))

def observe(observation):
    import pymc as pm
    return pm.Laplace(observation.name, observation.f, 0.1, observed=observation.target)

def noise(f, variables, error, xp):
    return "laplace", 0.1
"""
OWN = {"file": "mine/functions.py"}
SCORE = {"evaluation": {"default": {"scores": {"worst": {**OWN, "function": "worst"}}}}}
CUSTOM: dict[str, Any] = {"kind": "custom", **OWN}
USERS: list[tuple[dict[str, Any], dict[str, int]]] = [
    (SCORE, since("evaluate")),
    (renamed("likelihood", function="observe", noise="noise", **CUSTOM), since("pretrain")),
    (
        {"networks": {"n4": {"activation": {"function": "softsign", **CUSTOM}}}},
        {rule: jobs for rule, jobs in since("pretrain").items() if rule != "export"},
    ),
]


def with_file(tiny: Project, folder: Path) -> Project:
    """The finished study, and a file of the user in it."""
    project = tiny.copy_to(folder)
    write(project, SOURCE)
    return project


def write(project: Project, source: str) -> None:
    path = project.root / OWN["file"]
    path.parent.mkdir(exist_ok=True)
    path.write_text(source)


@pytest.mark.parametrize(("changes", "expected"), USERS)
@pytest.mark.by_day(2)
def test_what_uses_a_function_is_planned_and_nothing_else(
    tiny: Project, tmp_path: Path, changes: dict[str, Any], expected: dict[str, int]
) -> None:
    """A network with a function of the user ends without a surrogate."""
    assert with_file(tiny, tmp_path / "project").planned(changes=changes) == expected


@pytest.mark.slow
def test_a_changed_file_scores_again_and_a_missing_one_is_refused(
    tiny: Project, tmp_path: Path
) -> None:
    project = with_file(tiny, tmp_path / "project")
    before = json.loads((project.root / EVALUATION).read_text())
    project.snakemake(EVALUATION, changes=SCORE)
    found = json.loads((project.root / EVALUATION).read_text())
    assert found["own_scores"] == {
        "worst": {**OWN, "function": "worst", "settings": {}, "compared": False}
    }
    for split in ("train", "val", "test"):
        for ours, mine in ((before, found), (before["baseline"], found["baseline"])):
            assert 0 < mine[split].pop("worst") >= ours[split]["rmse_log10"]
            assert mine[split] == ours[split]
    assert project.planned(EVALUATION, changes=SCORE) == {}
    write(project, SOURCE + "# another\n")
    assert project.planned(EVALUATION, changes=SCORE) == {"evaluate": 1}
    (project.root / OWN["file"]).unlink()
    refused = project.snakemake("--dry-run", changes=SCORE, status=2).stderr
    assert "evaluation.default.scores.worst: file 'mine/functions.py' is not there" in refused
    assert "Traceback" not in refused
