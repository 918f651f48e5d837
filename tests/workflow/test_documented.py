"""Documented Snakemake commands can be planned; small tables stand in for those not shipped."""

from __future__ import annotations

import gzip
import re
import shutil
from collections.abc import Iterable
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from nlobayes.study.datasets import DatasetPreset
from tests.documented import ROOT, Command, commands

if TYPE_CHECKING:
    from tests.workflow.conftest import Project

pytestmark = pytest.mark.workflow

EARLIER = "results/earlier/old.nc"
SHORTENED = {
    "integration_steps: 256": "integration_steps: 16",
    "steps: 300": "steps: 60",
    "draws_per_segment: 500": "draws_per_segment: 400\n    chains: 2",
    "dataset: [old, new, union]": "dataset: old",
}
UPDATES = re.compile(r"snakemake (?:sequential_update\w* )?--configfile \S+sequential\.yaml")
"""Commands that want earlier data before they can be planned."""
SETTING = {"--report", "--unlock", "--touch", "--profile", "--help", "my.yaml", "theirs.yaml"}
"""Words of commands that are tested elsewhere, or that plan what the page does not tell."""
OF_A_TEST = {"config/studies/activations.yaml"}
"""Studies that a page tells the reader to write."""


def planned() -> dict[str, Command]:
    """Take the commands that plan a study, once each, by their words."""
    whole = [each for each in commands() if each.whole and each.words[0] == "snakemake"]
    plain = [each for each in whole if not {*each.words} & (SETTING | OF_A_TEST)]
    return {" ".join(each.words): each for each in plain}


def datasets() -> Iterable[DatasetPreset]:
    for path in ROOT.glob("config/studies/*.yaml"):
        for content in yaml.safe_load(path.read_text()).get("datasets", {}).values():
            yield DatasetPreset.model_validate(content)


def write_tables(root: Path) -> None:
    """Write each table that a study reads, with the columns and rows that its datasets ask for."""
    asked: dict[str, list[DatasetPreset]] = {}
    for dataset in datasets():
        if dataset.source.kind == "table":
            asked.setdefault(dataset.source.given or "", []).append(dataset)
    for path, presets in asked.items():
        columns = sorted({name for preset in presets for name in columns_of(preset)})
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        with gzip.open(root / path, "wt") as file:
            file.write(",".join(columns) + "\n")
            cycles = [cycle(values_of(presets, name)) for name in columns]
            file.writelines(",".join(map(next, cycles)) + "\n" for _ in range(16_000))


def values_of(presets: list[DatasetPreset], column: str) -> list[str]:
    """List what a column holds: 1, or the values of the rows that datasets keep."""
    filters = [preset.rows for preset in presets if preset.rows is not None]
    kept = [value for rows in filters if rows.column == column for value in rows.among]
    return [*dict.fromkeys(map(str, kept))] or ["1"]


def columns_of(preset: DatasetPreset) -> tuple[Any, ...]:
    target = preset.target
    groups = (preset.groups,) if preset.groups else ()
    return (
        *(*preset.features.columns, *target.columns, *target.scale_variations),
        *(*target.reference_columns, *groups),
    )


@pytest.fixture(scope="module")
def project(pristine: Project, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """The project as it is cloned, with a small table where each study looks for its own."""
    copy = pristine.copy_to(tmp_path_factory.mktemp("documented") / "project")
    write_tables(copy.root)
    return copy


@pytest.fixture(scope="module")
def with_earlier(project: Project, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """The same after `nlobayes condense`, whose file is stood in for as well."""
    copy = project.copy_to(tmp_path_factory.mktemp("documented") / "condensed")
    for name in (EARLIER, ".snakemake/metadata/a_job"):
        (copy.root / name).parent.mkdir(parents=True, exist_ok=True)
        (copy.root / name).write_bytes(b"a stand-in")
    return copy


@pytest.mark.by_day(4)
@pytest.mark.parametrize("said", sorted(planned()))
def test_a_documented_command_can_be_planned(said: str, request: pytest.FixtureRequest) -> None:
    program, *words = planned()[said].words
    name = "with_earlier" if UPDATES.fullmatch(said) else "project"
    project: Project = request.getfixturevalue(name)
    asked = [word for word in words if word != "-n"]
    assert sum(project.jobs(program, "--dry-run", *asked).values()) > 1


def test_sequential_alone_needs_no_earlier_data(project: Project) -> None:
    """The first of its commands runs on a fresh clone; the update waits for what it makes."""
    file = ("--configfile", "config/studies/sequential.yaml")
    assert project.jobs("snakemake", "--dry-run", "sequential", *file)["thin"] == 3
    refused = project.run("snakemake", "--dry-run", *file, status=2)
    assert "nlobayes condense" in refused.stdout + refused.stderr


@pytest.mark.slow
def test_make_runs_sequential_on_a_fresh_clone(
    pristine: Project, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """With two short chains: the old posterior is made, condensed, and named by a prior."""
    copy = pristine.copy_to(tmp_path_factory.mktemp("sequential") / "project")
    study = copy.root / "config/studies/sequential.yaml"
    short = study.read_text()
    for long, said in SHORTENED.items():
        assert short.count(long) >= 1
        short = short.replace(long, said)
    study.write_text(short)
    asked = "STUDIES=config/studies/sequential.yaml"
    copy.run("make", "studies", asked, "RUN=", f"UV={shutil.which('true')}")
    made = "new/n16/updated/tolerance_10/adam/hmc_sequential/s1"
    assert (copy.root / f"results/metrics/{made}/evaluation.json").exists()
