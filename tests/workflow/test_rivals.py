"""Rivals through the real Snakefile: beside a finished run, from its dataset, and once each."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.workflow.conftest import Project

pytestmark = pytest.mark.workflow

RUN = "tiny/n4/fan_in/tolerance_10/tiny/tiny/s1"
EVALUATION = f"results/metrics/{RUN}/evaluation.json"
CHANGES: dict[str, Any] = {
    "rivals": {"trees": {"kind": "boosted_trees", "most_iterations": 50}},
    "grids": {"tiny": {"rivals": ["gp_matern", "trees"]}},
}


def test_they_are_fitted_to_the_dataset_and_the_run_is_evaluated_anew(
    tiny: Project, tmp_path: Any
) -> None:
    """No draw is made again, and no score of the run itself changes."""
    project = tiny.copy_to(tmp_path / "project")
    before = json.loads((project.root / EVALUATION).read_text())
    assert project.built(EVALUATION, changes=CHANGES) == {"rival": 2, "evaluate": 1}
    after = json.loads((project.root / EVALUATION).read_text())
    rivals = after.pop("rivals")
    assert after == before
    assert {*rivals} == {"gp_matern", "trees"}
    linear = before["linear"]["test"]["rmse_log10"]
    assert rivals["gp_matern"]["test"]["rmse_log10"] < 0.5 * linear
    said = project.run("nlobayes", "summary").stdout
    rows = [line.split() for line in said.splitlines() if "gp_matern" in line]
    (shown,) = [row for row in rows if row[row.index("gp_matern") + 1] != "calibrated:"]
    assert float(shown[shown.index("gp_matern") + 1]) > 0
    made = project.digests("results/rivals")
    assert {*made} == {f"results/rivals/tiny/{name}.nc" for name in rivals}
    assert project.planned(EVALUATION, changes=CHANGES) == {}
    project.run("nlobayes", "verify", "results/rivals")


def test_rivals_of_classes_stop_the_plan(tiny: Project) -> None:
    target = {"column": "sigma_pb", "unit": "", "scale": "classes"}
    changes = {
        **CHANGES,
        "datasets": {"tiny": {"target": target}},
        "grids": {"tiny": {**CHANGES["grids"]["tiny"], "likelihood": "categorical"}},
    }
    done = tiny.snakemake("--dry-run", changes=changes, status=2)
    assert "rivals learn one target that is a number" in done.stderr
    assert "Traceback" not in done.stderr
