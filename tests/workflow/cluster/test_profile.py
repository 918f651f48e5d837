"""What the profile says of rules is of rules that exist, and every job is estimated."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from nlobayes.stages import PIPELINE

pytestmark = pytest.mark.workflow

ROOT = Path(__file__).parents[3]
RULES = "".join(path.read_text() for path in sorted((ROOT / "workflow/rules").glob("*.smk")))
RULE = re.compile(r"^(?:rule|use rule \w+ as) (\w+)", re.MULTILINE)
OF_OTHER_THINGS = {
    "tabulate_classes": "tabulate",
    "plot_data": "describe",
    "plot_landscape": "landscape",
    "plot_prior_predictive": "prior_predictive",
    "plot_scan": "compare",
    "plot_differences": "compare",
    "plot_pulls_by_setting": "compare",
    "plot_speed": "speed",
    "plot_fidelity": "fidelity",
}
"""Rules of another name than their stage: of classes, and of figures that are not of a run."""


def profile() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((ROOT / "profiles/slurm/config.yaml").read_text())
    return found


def stage_of(rule: str) -> str:
    """Name the stage of a rule, for figures the one that their tables decide by."""
    if rule in OF_OTHER_THINGS:
        return OF_OTHER_THINGS[rule]
    return "plot" if rule.startswith("plot_") else rule


def test_groups_of_the_profile_are_those_of_the_stages() -> None:
    """A rule without a group is alone in a job of the cluster."""
    rules = RULE.findall(RULES)
    stated = {rule: PIPELINE[stage_of(rule)].group for rule in rules}
    assert profile()["groups"] == {rule: group for rule, group in stated.items() if group}


def test_profile_names_no_site() -> None:
    assert not {"slurm_partition", "slurm_account"} & set(profile()["default-resources"])
    assert profile()["slurm-status-command"] == "squeue"
