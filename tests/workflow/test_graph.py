"""The graph of a large study: every path has one rule that makes it, and cost grows as runs do."""

from __future__ import annotations

import json
import random
import re
import resource
from typing import TYPE_CHECKING, Any

import pytest
from snakemake.io import WILDCARD_REGEX, apply_wildcards, regex_from_filepattern

if TYPE_CHECKING:
    from tests.workflow.conftest import Project

pytestmark = pytest.mark.workflow

PRINTING = """
import json
include: "Snakefile"
made = [(each.name, str(product)) for each in workflow.rules for product in each.products()]
print("products", json.dumps(made))
"""
SCANNED = {
    "datasets": {
        "scanned": {
            "source": {"kind": "slha", "folder": "scan"},
            "split": {"train": 0.8, "validation": 0.1, "test": 0.1},
        },
        "called": {
            "source": {
                "kind": "program",
                "program": {
                    "command": ["echo", "{x}"],
                    "version": "1",
                    "output": {"kind": "number", "column": "y", "unit": ""},
                },
                "design": {"kind": "sobol", "points": 10, "ranges": {"x": {"low": 0, "high": 1}}},
                "rounds": {"most": 1, "points": 5},
            },
            "features": {"columns": ["x"], "map": "raw", "units": {}},
            "target": {"column": "y", "unit": "", "scale": "identity"},
            "split": {"column": "split"},
        },
    },
    "grids": {
        "called": {
            "dataset": "called",
            "network": "n4",
            "prior": "fan_in",
            "likelihood": "tolerance_10",
            "pretraining": "tiny",
            "method": "tiny",
        }
    },
}
DEPTH = {"run": 6, "model": 5, "samplers": 6, "approximated": 6}
"""Names in a path before its seed."""

Products = list[tuple[str, str]]


@pytest.fixture(scope="module")
def project(unbuilt: Project, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """The tiny study, not run, and a workflow that prints what its rules make."""
    copy = unbuilt.copy_to(tmp_path_factory.mktemp("graph") / "project")
    (copy.root / "printing.smk").write_text(PRINTING)
    return copy


def study(seeds: int) -> dict[str, Any]:
    """Repeat the run of the tiny study, for its scores alone."""
    return {"seeds": [*range(1, seeds + 1)], "grids": {"tiny": {"outputs": "metrics"}}}


def products(project: Project, changes: dict[str, Any]) -> Products:
    """List the pattern of every output, log and benchmark, with the rule that it belongs to."""
    words = ("--snakefile", "printing.smk", "--list-rules")
    printed = project.snakemake(*words, changes=changes).stdout
    (line,) = [line for line in printed.splitlines() if line.startswith("products ")]
    return [(rule, pattern) for rule, pattern in json.loads(line.removeprefix("products "))]


OF_OTHER_RUNS = {
    "approximate",
    "sample",
    "tabulate_sizes",
    "plot_sizes",
    "plot_certainty",
    "plot_images",
    "plot_with_scale",
}
"""Rules that no path is of, as those of classes: the study has neither classes, other methods nor
networks whose size is drawn."""


def test_patterns_do_not_grow_with_the_runs(project: Project) -> None:
    few, many = (products(project, study(seeds)) for seeds in (2, 40))
    assert few == many


def test_every_path_has_one_rule_and_one_reading(project: Project) -> None:
    """Presets are given names that occur as folders and files in the paths of other rules."""
    made = products(project, SCANNED)
    names = sorted({part for _, path in made for part in re.split(r"[/{}]", path)} | {"s1", "0"})
    names = [name for name in names if re.fullmatch(r"[A-Za-z0-9][\w.-]*", name)]
    assert {"landscape", "agreement", "comparison", "verdict.csv", "diagnostics.json"} <= {*names}
    regexes = [(rule, re.compile(regex_from_filepattern(pattern))) for rule, pattern in made]
    chance = random.Random(0)
    for rule, pattern in made:
        if rule.endswith("_classes") or rule in OF_OTHER_RUNS:
            continue
        for _ in range(30):
            wildcards = [match["name"] for match in WILDCARD_REGEX.finditer(pattern)]
            given = {name: invented(rule, name, names, chance) for name in wildcards}
            path = apply_wildcards(pattern, given)
            found = [(by, match.groupdict()) for by, each in regexes if (match := each.match(path))]
            assert found == [(rule, given)], path


def invented(rule: str, wildcard: str, names: list[str], chance: random.Random) -> str:
    """Give a wildcard of a rule a value that it may have."""
    if rule == "ingest":
        return "scanned"
    if rule == "choose":
        return "called_1"
    if rule in ("design", "run_program", "gather", "judge") and wildcard == "dataset":
        return "called"
    if wildcard == "rival":
        return "gp_matern"
    if wildcard in DEPTH:
        parts = chance.choices(names, k=DEPTH[wildcard])
        if parts[0] == "prior_predictive":
            parts[0] = "tiny"  # no dataset may be called so: rules have files of one name there
        return "/".join([*parts, f"s{chance.randrange(20)}"])
    return "tiny" if wildcard in {"dataset", "grid"} else str(chance.randrange(20))


@pytest.mark.parametrize(
    "path",
    [
        "results/posterior/tiny/n4/fan_in/tolerance_10/tiny/tiny/s7.nc",
        "results/metrics/tiny/n5/fan_in/tolerance_10/tiny/tiny/s1/evaluation.json",
        "results/pretrain/tiny/n4/fan_in/tolerance_10/tiny/s7/0.nc",
        "results/metrics/agreement/tiny/tiny/n4/fan_in/tolerance_10/tiny/s1.json",
    ],
)
@pytest.mark.by_day(2)
def test_a_path_that_no_run_has_is_refused(project: Project, path: str) -> None:
    refused = project.snakemake("--dry-run", path, status=1)
    assert "is no path of this study" in refused.stdout + refused.stderr


@pytest.mark.slow
def test_cost_grows_as_the_runs_do(project: Project) -> None:
    """Eight times the runs in less than six times the CPU seconds, Snakemake's start included."""
    assert cpu_seconds(project, 800) < 6 * cpu_seconds(project, 100)


def cpu_seconds(project: Project, runs: int) -> float:
    """Time the building of a graph."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    project.snakemake("--dry-run", "--quiet", "progress", "rules", changes=study(runs))
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
