"""A small study of numbers and of classes, as a plan for the rules."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from nlobayes.study.study import load_study, override
from nlobayes.workflow.plan import Plan

SPLIT = {"train": 30, "validation": 15, "test": 15}
CROSSED = {"network": "n4", "prior": "fan_in", "pretraining": "adam"}
SMALL: dict[str, Any] = {
    "datasets": {
        "made": {"source": {"kind": "simulate", "points": 60}, "split": SPLIT},
        "kinds": {
            "source": {"kind": "table", "path": "data/kinds.csv"},
            "features": {"columns": ["x"], "map": "raw", "units": {}},
            "target": {"column": "kind", "unit": "", "scale": "classes"},
            "split": SPLIT,
        },
        "files": {"source": {"kind": "slha", "folder": "scan"}, "split": SPLIT},
    },
    "networks": {"n4": {"hidden": [4]}, "n8": {"hidden": [8]}},
    "priors": {"fan_in": {"kind": "fan_in"}},
    "likelihoods": {
        "tight": {"kind": "gaussian", "sigma": 0.1},
        "classes": {"kind": "categorical"},
    },
    "pretraining": {"adam": {"epochs": 10}},
    "methods": {
        "hmc": {"kernel": {"kind": "hmc"}, "chains": 4, "draws_per_segment": 16, "segments": 2},
        "nuts": {"kernel": {"kind": "nuts"}, "chains": 2, "draws_per_segment": 16},
    },
    "evaluation": {"default": {}},
    "grids": {
        "one": {"dataset": "made", "likelihood": "tight", "method": "hmc", **CROSSED},
        "two": {"dataset": "made", "likelihood": "tight", "method": ["hmc", "nuts"], **CROSSED},
        "kinds": {"dataset": "kinds", "likelihood": "classes", "method": "hmc", **CROSSED},
        "prior": {
            "dataset": "made",
            "likelihood": "tight",
            "method": "hmc",
            **CROSSED,
            "outputs": "prior",
        },
    },
    "targets": ["one"],
}


@pytest.fixture(scope="session")
def make_plan() -> Callable[..., Plan]:
    """Plan the small study with changes to its keys."""

    def make(changes: Mapping[str, Any] | None = None) -> Plan:
        return Plan(load_study(override(SMALL, changes or {})))

    return make


@pytest.fixture(scope="session")
def plan(make_plan: Callable[..., Plan]) -> Plan:
    """The small study."""
    return make_plan()


@pytest.fixture
def in_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder of a project, which is the working directory."""
    monkeypatch.chdir(tmp_path)
    return tmp_path
