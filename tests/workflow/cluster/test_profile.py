"""What the profile says of rules is of rules that exist, and every job is estimated."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from nlobayes.study.resources import BASE_MB

pytestmark = pytest.mark.workflow

ROOT = Path(__file__).parents[3]
RULES = "".join(path.read_text() for path in sorted((ROOT / "workflow/rules").glob("*.smk")))
NAMES = re.compile(r"^(?:rule|use rule \w+ as) (\w+)", re.MULTILINE)
ALONE = {"pretrain", "warmup", "draw", "judge", "agree", "speed", "plot_speed"}
"""Rules whose jobs share no job of the cluster."""


def profile() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((ROOT / "profiles/slurm/config.yaml").read_text())
    return found


def test_every_rule_is_in_a_group_or_meant_to_be_alone() -> None:
    grouped = set(profile()["groups"])
    assert grouped | ALONE == set(NAMES.findall(RULES))
    assert not grouped & ALONE


@pytest.mark.parametrize(("function", "resource"), [("memory", "mem_mb"), ("wall_time", "runtime")])
def test_every_verb_is_estimated(function: str, resource: str) -> None:
    assert set(re.findall(rf'{resource}={function}\("(\w+)"\)', RULES)) == set(BASE_MB)


def test_profile_names_no_site() -> None:
    assert not {"slurm_partition", "slurm_account"} & set(profile()["default-resources"])
    assert profile()["slurm-status-command"] == "squeue"
