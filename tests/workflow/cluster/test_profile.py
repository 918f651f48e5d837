"""What the profiles say of rules is of rules that exist, and every job is estimated."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from nlobayes.stages import PIPELINE
from nlobayes.workflow.needs import MEMORY_OF_EXECUTORS

if TYPE_CHECKING:
    from tests.workflow.conftest import Project

pytestmark = pytest.mark.workflow

ROOT = Path(__file__).parents[3]
RULES = "".join(path.read_text() for path in sorted((ROOT / "workflow/rules").glob("*.smk")))
RULE = re.compile(r"^(?:rule|checkpoint|use rule \w+ as) (\w+)", re.MULTILINE)
LOCAL = re.compile(r"^localrules:\n((?:    \w+,\n)+)", re.MULTILINE)
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


OPTIONS_OF_HTCONDOR = {"htcondor-jobdir", "htcondor-shared-fs-prefixes", "htcondor-held-timeout"}
RESOURCES_OF_HTCONDOR = {
    *("getenv", "environment", "request_memory", "request_disk", "request_gpus", "requirements"),
    *("htcondor_request_mem_mb", "htcondor_request_disk_mb", "htcondor_gpus_min_mem_mb", "rank"),
}
"""What `snakemake-executor-plugin-htcondor` 0.3 documents and reads of the resources of a job."""


def profile(name: str) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((ROOT / f"profiles/{name}/config.yaml").read_text())
    return found


def stage_of(rule: str) -> str:
    """Name the stage of a rule, for figures the one that their tables decide by."""
    if rule in OF_OTHER_THINGS:
        return OF_OTHER_THINGS[rule]
    return "plot" if rule.startswith("plot_") else rule


@pytest.mark.parametrize("name", ["slurm", "htcondor"])
def test_groups_of_a_profile_are_those_of_the_stages(name: str) -> None:
    """A rule without a group is alone in a job of the cluster, or runs where Snakemake does."""
    (local,) = LOCAL.findall((ROOT / "workflow/Snakefile").read_text())
    rules = [rule for rule in RULE.findall(RULES) if f" {rule}," not in local]
    stated = {rule: PIPELINE[stage_of(rule)].group for rule in rules}
    assert profile(name)["groups"] == {rule: group for rule, group in stated.items() if group}


def test_the_htcondor_profile_says_what_its_plugin_reads() -> None:
    said = profile("htcondor")
    assert said["executor"] == "htcondor"
    assert {key for key in said if key.startswith("htcondor-")} <= OPTIONS_OF_HTCONDOR
    assert set(said["default-resources"]) - {"mem_mb"} <= RESOURCES_OF_HTCONDOR
    assert MEMORY_OF_EXECUTORS & set(said["default-resources"]), "else no rule states its memory"
    text = (ROOT / "profiles/htcondor/config.yaml").read_text()
    on_gpu = set(re.findall(r"^#   (\w+): {request_gpus: 1}", text, re.MULTILINE))
    assert on_gpu == {name for name, stage in PIPELINE.items() if stage.on_gpu}


def test_profiles_differ_in_nothing_but_their_cluster() -> None:
    slurm, htcondor = profile("slurm"), profile("htcondor")
    own = {"executor", "default-resources"}
    both = {key for key in {*slurm, *htcondor} - own if not key.startswith(("slurm-", "htcondor-"))}
    assert {key: slurm.get(key) for key in both} == {key: htcondor.get(key) for key in both}


def test_rules_ask_for_memory_by_the_name_that_a_profile_gives(unbuilt: Project) -> None:
    """The estimate, once for Snakemake and once for HTCondor; others see one name alone."""
    words = ("snakemake", "--dry-run", "--default-resources", "htcondor_request_mem_mb=2000")
    said = unbuilt.run(*words).stdout
    (line,) = {line for line in said.splitlines() if "resources:" in line and "mem_mb=1701" in line}
    assert "htcondor_request_mem_mb=1701" in line
    assert "htcondor" not in unbuilt.run("snakemake", "--dry-run").stdout
