"""The preset library: shipped presets are valid, unreadable ones are refused."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from nlobayes.study.job_builder import run_jobs
from nlobayes.study.study import load_study, override, read_presets
from tests.refusals import refused

CONFIG = Path(__file__).parents[3] / "config"


def shipped(**changes: Any) -> dict[str, Any]:
    """Make the study of `make run`, with changes."""
    chosen = yaml.safe_load((CONFIG / "config.yaml").read_text())
    return override(override(read_presets(CONFIG / "presets"), chosen), changes)


EVERY_RUN = {
    "pretrain",
    "warmup",
    "draw",
    "diagnose",
    "posterior_predictive",
    "landscape",
    "prior_predictive",
    "evaluate",
    "export",
    "tabulate",
    "tabulate_chains",
}


def test_the_shipped_study_is_valid_and_every_grid_has_jobs() -> None:
    study = load_study(shipped())
    assert study.targets
    for grid in study.grids:
        runs = list(study.runs(grid))
        assert runs
        for run in runs:
            checks = {"check_convergence"} if run.mcmc and run.mcmc.until else set()
            assert run_jobs(run).keys() == EVERY_RUN | checks


def test_files_are_merged_in_the_order_of_their_names(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("networks: {n4: {hidden: [4], activation: relu}}")
    (tmp_path / "b.yaml").write_text("networks: {n4: {hidden: [5]}, n8: {hidden: [8]}}")
    (tmp_path / "c.txt").write_text("not read")
    assert read_presets(tmp_path) == {
        "networks": {"n4": {"hidden": [5], "activation": "relu"}, "n8": {"hidden": [8]}}
    }


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        (b"networks: [n4", "study.not_yaml"),
        (b"a: 1\n---\nb: 2", "study.not_yaml"),
        (b"", "study.no_mapping"),
    ],
)
def test_unreadable_presets_name_their_file(tmp_path: Path, content: bytes, fault: str) -> None:
    (tmp_path / "bad.yaml").write_bytes(content)
    with refused(fault, where=tmp_path / "bad.yaml") as caught:
        read_presets(tmp_path)
    assert "\n" not in str(caught.value)


def test_mappings_are_overridden_and_all_else_is_replaced() -> None:
    base = {"a": {"x": 1, "y": {"z": 2}}, "b": [1, 2], "c": {"d": 1}}
    changes = {"a": {"y": {"w": 3}}, "b": [3], "c": None, "e": {}}
    assert override(base, changes) == {
        "a": {"x": 1, "y": {"z": 2, "w": 3}},
        "b": [3],
        "c": None,
        "e": {},
    }
