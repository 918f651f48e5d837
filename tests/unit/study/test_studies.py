"""The studies of config/studies: valid, at two scales, and with unique names."""

import re
from pathlib import Path

import pytest
import yaml

from nlobayes.cli import COMMANDS
from nlobayes.study.comparison import compare_job
from nlobayes.study.study import Study, load_study, override, read_presets

CONFIG = Path(__file__).parents[3] / "config"
STUDIES = sorted((CONFIG / "studies").glob("*.yaml"))
OF_OUR_OWN = {
    "infinite",
    "rows",
    "accuracy",
    "accuracy_tables",
    "approximations",
    "priors_and_vi",
    "program",
    "prospino",
    "priors_likelihoods",
    "random_features",
    "rivals",
    "theory_errors",
}
"""Studies that do not repeat published results."""

AT_FULL_SCALE = {"reversible_jump"}
"""Studies with only one scale, that of the published study or a larger one."""


def read(path: Path) -> Study:
    base = override(
        read_presets(CONFIG / "presets"), yaml.safe_load((CONFIG / "config.yaml").read_text())
    )
    return load_study(override(base, yaml.safe_load(path.read_text())))


@pytest.mark.parametrize("path", STUDIES, ids=lambda path: path.stem)
def test_a_study_runs_reduced_and_at_paper_scale(path: Path) -> None:
    study, content = read(path), yaml.safe_load(path.read_text())
    papers = {name for name in content["grids"] if name.endswith("_paper")}
    assert papers or path.stem in OF_OUR_OWN | AT_FULL_SCALE
    assert set(study.targets) == set(content["grids"]) - papers
    assert {name.removesuffix("_paper") for name in papers} <= set(study.targets)
    assert path.read_text().startswith("#"), "the first lines say what it repeats"


@pytest.mark.parametrize("path", STUDIES, ids=lambda path: path.stem)
def test_grids_are_no_rules_and_their_runs_compare(path: Path) -> None:
    """A grid is a rule of the Snakefile and must not take the name of a verb."""
    study = read(path)
    assert not set(study.grids) & {*COMMANDS, "all"}
    for grid in study.grids:
        if {*study.rounds} & {*study.grids[grid].dataset}:
            continue  # rounds are not compared
        runs = [run.run_id for run in study.runs(grid)]
        assert [run.run for run in compare_job(study, grid).runs] == runs


def test_the_page_of_studies_has_a_row_of_each() -> None:
    page = (CONFIG.parent / "docs/studies.md").read_text()
    first_cells = re.findall(r"^\|([^|]+)\|", page, re.MULTILINE)
    named = [name for cell in first_cells for name in re.findall(r"`(\w+)`", cell)]
    assert sorted(named) == [path.stem for path in STUDIES]


def test_tables_that_are_not_shipped_are_read_from_one_folder() -> None:
    paths = [
        dataset.source.given or ""
        for path in STUDIES
        for dataset in read(path).datasets.values()
        if dataset.source.kind == "table"
    ]
    assert {Path(path).parent for path in paths} == {Path("data"), Path("data/grids")}


def test_make_rivals_knows_which_grids_read_which_table() -> None:
    """It runs grids of the embedded engine, and grids of each table that exists."""
    makefile = (CONFIG.parent / "Makefile").read_text().replace("\\\n", " ")
    found = dict(re.findall(r"^(RIVALS_\w+) := (.*)", makefile, re.M))
    of_tables = dict(pair.split(":") for pair in found["RIVALS_OF_TABLES"].split())
    study, expected = read(CONFIG / "studies/rivals.yaml"), dict[str, set[str]]()
    for grid in study.targets:
        for name in study.grids[grid].dataset:
            path = getattr(study.datasets[name].source, "path", "")
            expected.setdefault(Path(path).name.removesuffix(".csv.gz"), set()).add(grid)
    assert {*found["RIVALS_EMBEDDED"].split()} == expected.pop("")
    assert {table: {*grids.split(",")} for table, grids in of_tables.items()} == expected
