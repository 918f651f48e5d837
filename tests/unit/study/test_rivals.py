"""Rivals that a grid may request, and their refusals before anything runs."""

from typing import Any

import pytest
from pydantic import ValidationError

from nlobayes import rivals
from nlobayes.study.study import Study, load_study, override
from tests.refusals import refused
from tests.unit.workflow.conftest import SMALL

Changes = dict[str, Any]
PRESETS: Changes = {"rivals": {"gp": {"kind": "gaussian_process"}}}
SEVERAL = {"target": {"column": ["sigma_pb", "lo_pb"]}}


def study(changes: Changes) -> Study:
    """Load the small study with rivals and with changes."""
    return load_study(override(override(SMALL, PRESETS), changes))


def test_an_ensemble_takes_steps_that_its_schedule_ends_with() -> None:
    """Held-out rows are scored a hundred times, so a hundred divides the steps."""
    steps = {"kind": "network_ensemble", "steps": 150}
    with pytest.raises(ValidationError, match="multiple of 100"):
        rivals.RIVALS["network_ensemble"].model_validate(steps)


@pytest.mark.parametrize(
    ("changes", "received"),
    [
        ({"grids": {"kinds": {"rivals": ["gp"]}}}, "classes"),
        (
            {
                "datasets": {"made": SEVERAL},
                "grids": {"one": {"rivals": ["gp"], "outputs": "metrics"}},
            },
            "2 targets",
        ),
    ],
)
def test_classes_and_several_targets_are_refused(changes: Changes, received: str) -> None:
    with refused("study.rivals_of_one_target") as caught:
        study(changes)
    assert received in str(caught.value)
    assert "leave `rivals` out" in str(caught.value)


@pytest.mark.parametrize(
    "changes",
    [
        {"kind": "gaussian_process", "most_rows": 100_000},
        {"kind": "gaussian_process", "kernel": "linear"},
        {"kind": "boosted_trees", "held_out": 1.0},
        {"kind": "network_ensemble", "hidden": []},
        {"kind": "network_ensemble", "steps": 10**9},
        {"kind": "conformal_trees", "held_out": 1.0},
        {"kind": "ngboost", "most_depth": 0},
        {"kind": "pops", "most_degree": 20},
        {"kind": "crepes", "held_out": 0.0},
        {"kind": "interpolation", "kernel": "gaussian"},
        {"kind": "quantile_forest", "trees": 0},
        {"kind": "xgboost", "most_depth": 0},
        {"kind": "forest"},
    ],
)
def test_settings_beyond_their_limits_are_refused(changes: Changes) -> None:
    with refused("study.refused") as caught:
        study({"rivals": {"gp": changes}})
    assert "rivals.gp" in str(caught.value)


@pytest.mark.parametrize(
    ("absent", "needing"),
    [
        ("sklearn", {"gaussian_process", "boosted_trees"}),
        ("mapie", {"conformal_trees"}),
        ("ngboost", {"ngboost"}),
        ("popsregression", {"pops"}),
        ("crepes", {"crepes"}),
        ("quantile_forest", {"quantile_forest"}),
        ("xgboost", {"xgboost"}),
    ],
)
def test_what_is_missing_is_the_library_that_is_not_installed(
    absent: str, needing: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rivals, "find_spec", lambda name: None if name == absent else name)
    kinds = {kind: one.model_validate({"kind": kind}) for kind, one in rivals.RIVALS.items()}
    missing = {kind: one.missing for kind, one in kinds.items() if one.missing is not None}
    assert missing == dict.fromkeys(needing, absent)


@pytest.mark.parametrize("outputs", ["speed", "prior"])
def test_a_grid_without_scores_has_no_rivals(outputs: str) -> None:
    with refused("study.rivals_without_scores"):
        study({"grids": {"prior": {"rivals": ["gp"], "outputs": outputs}}})
