"""DVC and Snakemake know the same: results travel, and stay up to date where they arrive."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

import pytest
import yaml

if TYPE_CHECKING:
    from tests.workflow.conftest import Project

pytestmark = pytest.mark.workflow

CLEAN = "Data and pipelines are up to date."
UNCHANGED = "Stage 'workflow' didn't change, skipping"
STUDENT_T = "config/config.yaml:+evaluation.default.noise=student_t"
REJUDGED = dict.fromkeys(("evaluate", "export", "tabulate", "plot", "plot_chains", "all"), 1)
IMAGE = re.compile(r'<img src="([^"]+)"')
RUN = "tiny/n4/fan_in/tolerance_10/tiny/tiny/s1"


def clone(published: Project, folder: Path) -> Project:
    """Clone the published repository and pull its results."""
    cloned = published.clone_to(folder)
    cloned.run("dvc", "pull")
    return cloned


def stage(project: Project) -> dict[str, list[str]]:
    """Read the paths that the stage depends on and those that it makes."""
    content = yaml.safe_load((project.root / "dvc.yaml").read_text())["stages"]["workflow"]
    made = [*content["outs"], *content["metrics"]]
    return {
        "deps": content["deps"],
        "params": [path for entry in content["params"] for path in entry],
        "made": [path for entry in made for path in entry],
        "kept": [path for entry in made for path, flags in entry.items() if flags["persist"]],
    }


def table_of_files(project: Project, grid: str) -> list[dict[str, str]]:
    """List every file that a grid makes, and what it is made of."""
    printed = project.snakemake("--detailed-summary", grid).stdout
    text = printed[printed.index("output_file\t") :]
    return list(csv.DictReader(io.StringIO(text), delimiter="\t"))


def holders(path: str, folders: list[str]) -> list[str]:
    """Find the folders or files that hold a path."""
    return [folder for folder in folders if PurePosixPath(path).is_relative_to(folder)]


@pytest.mark.by_day(1)
@pytest.mark.parametrize("grid", ["ci", "thesis"])
def test_every_file_of_the_workflow_belongs_to_one_output(pristine: Project, grid: str) -> None:
    declared = stage(pristine)
    files = table_of_files(pristine, grid)
    made = {row["output_file"] for row in files}
    assert len(made) > 30
    for path in made:
        assert len(holders(path, declared["made"])) == 1, path
    used = {path for row in files for path in row["input-file(s)"].split(",") if path != "-"}
    for path in used - made:
        assert len(holders(path, declared["deps"])) == 1, path


def test_outputs_survive_a_run(pristine: Project) -> None:
    """DVC deletes what does not persist before it runs the stage."""
    declared = stage(pristine)
    assert declared["kept"] == declared["made"]
    assert ".snakemake/metadata" in declared["made"]


def test_every_folder_is_there_even_where_a_study_leaves_it_empty(pristine: Project) -> None:
    """DVC records no stage that lacks an output."""
    make, _ = yaml.safe_load((pristine.root / "dvc.yaml").read_text())["stages"]["workflow"]["cmd"]
    assert {*make.split()} == {"mkdir", "-p", *stage(pristine)["made"]} - {".snakemake/metadata"}


def test_every_file_of_the_study_is_a_parameter_file(pristine: Project) -> None:
    files = {
        path.relative_to(pristine.root).as_posix()
        for path in pristine.root.glob("config/**/*.yaml")
        if path.name == "config.yaml" or path.parent.name == "presets"  # others run by name
    }
    assert set(stage(pristine)["params"]) == files


def test_repro_records_the_workflow(published: Project) -> None:
    lock = yaml.safe_load((published.root / "dvc.lock").read_text())["stages"]["workflow"]
    assert {out["path"] for out in lock["outs"]} == set(stage(published)["made"])
    empty = {out["path"] for out in lock["outs"] if out["nfiles"] == 0}
    of_programs = {"points", "results/points", "results/rounds"}
    assert empty == {"results/rivals", *of_programs}  # the tiny study has neither
    assert published.planned() == {}
    assert published.run("git", "status", "--porcelain").stdout == ""


@pytest.mark.slow
def test_repro_runs_the_workflow_and_the_same_seed_gives_the_same_bytes_elsewhere(
    tiny: Project, unbuilt: Project, tmp_path: Path
) -> None:
    project = unbuilt.copy_to(tmp_path / "project")
    project.run("git", "init", "--quiet", "--initial-branch=main")
    assert project.jobs("dvc", "repro") == unbuilt.planned()
    assert project.planned() == {}
    here, there = tiny.digests(), project.digests()
    assert {PurePosixPath(path).suffix for path in here} == {
        *(".parquet", ".nc", ".json", ".csv", ".svg", ".png")
    }
    assert here == there


def test_second_repro_does_nothing(published: Project) -> None:
    before = (published.root / "dvc.lock").read_bytes()
    printed = published.run("dvc", "repro").stdout
    assert UNCHANGED in printed
    assert "Job stats" not in printed
    assert CLEAN in published.run("dvc", "status", "dvc.yaml").stdout
    assert (published.root / "dvc.lock").read_bytes() == before


def test_clone_and_pull_is_up_to_date(published: Project, tmp_path: Path) -> None:
    cloned = clone(published, tmp_path / "clone")
    assert cloned.digests() == published.digests()
    assert cloned.planned() == {}
    assert CLEAN in cloned.run("dvc", "status", "dvc.yaml").stdout
    assert UNCHANGED in cloned.run("dvc", "repro").stdout


@pytest.fixture(scope="module")
def changed(published: Project, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A clone with an experiment: one parameter changed, run again and committed."""
    cloned = clone(published, tmp_path_factory.mktemp("changed") / "clone")
    assert cloned.jobs("dvc", "exp", "run", "--set-param", STUDENT_T) == REJUDGED
    cloned.run("git", "commit", "--quiet", "--all", "--message=Change")
    return cloned


@pytest.mark.slow
def test_changed_parameter_runs_what_it_affects(published: Project, changed: Project) -> None:
    before, after = published.digests(), changed.digests()
    assert set(after) == set(before)
    different = {path for path in before if before[path] != after[path]}
    folders = {path.split("/")[1] for path in different}
    assert folders == {"metrics", "plots", "figures", "records", "surrogates"}
    assert CLEAN in changed.run("dvc", "status", "dvc.yaml").stdout
    committed = changed.run("git", "diff", "--name-only", "HEAD~1").stdout.split()
    assert committed == ["config/config.yaml", "dvc.lock"]


@pytest.mark.slow
def test_changes_are_told_by_name(changed: Project) -> None:
    parameters = changed.run("dvc", "params", "diff", "HEAD~1").stdout
    assert "evaluation.default.noise" in parameters
    assert "test.sigma_z_total" in changed.run("dvc", "metrics", "diff", "HEAD~1").stdout
    files = json.loads(changed.run("dvc", "diff", "--json", "HEAD~1").stdout)
    assert files["added"] == files["deleted"] == files["renamed"] == []
    modified = {file["path"] for file in files["modified"]}
    assert f"results/metrics/{RUN}/evaluation.json" in modified
    assert f"results/posterior/{RUN}.nc" not in modified


@pytest.mark.slow
def test_figures_of_two_commits_are_shown_side_by_side(changed: Project, tmp_path: Path) -> None:
    for words, revisions in ((("show",), 1), (("diff", "HEAD~1", "HEAD"), 2)):
        page = tmp_path / words[0]
        changed.run("dvc", "plots", *words, "--out", page)
        shown = IMAGE.findall((page / "index.html").read_text())
        assert len(shown) == revisions * len(changed.digests("results/figures"))
        assert all((page / path).stat().st_size > 1000 for path in shown)


@pytest.mark.slow
def test_a_table_is_drawn_on_demand(changed: Project, tmp_path: Path) -> None:
    table = f"results/plots/{RUN}/levels.csv"
    words = ("--out", tmp_path, "--targets", table, "-x", "level", "-y", "coverage")
    drawn = changed.run("dvc", "plots", "diff", "HEAD~1", "HEAD", *words, "--show-vega").stdout
    points = json.loads(drawn)["data"]["values"]
    assert len({point["rev"] for point in points}) == 2
    assert all(0 <= float(point["coverage"]) <= 1 for point in points)


@pytest.mark.slow
def test_experiment_elsewhere_leaves_the_workspace_and_can_be_applied(
    published: Project, tmp_path: Path
) -> None:
    cloned = clone(published, tmp_path / "clone")
    before = cloned.digests()
    words = ("--temp", "--name", "warm", "--set-param", STUDENT_T)
    assert cloned.jobs("dvc", "exp", "run", *words) == REJUDGED
    assert cloned.run("git", "status", "--porcelain").stdout == ""
    assert cloned.digests() == before
    shown = cloned.run("dvc", "exp", "show", "--csv", "--param-deps").stdout
    rows = {row["Experiment"] or row["rev"]: row for row in csv.DictReader(io.StringIO(shown))}
    assert rows["warm"]["evaluation.default.noise"] == "student_t"
    assert rows["warm"]["test.sigma_z_total"] != rows["main"]["test.sigma_z_total"]
    cloned.run("dvc", "exp", "apply", "warm")
    assert cloned.planned() == {}
    assert CLEAN in cloned.run("dvc", "status", "dvc.yaml").stdout
    assert {path for path, digest in cloned.digests().items() if digest != before[path]}


@pytest.mark.slow
def test_study_without_figures_is_recorded(published: Project, tmp_path: Path) -> None:
    cloned = clone(published, tmp_path / "clone")
    cloned.configure({"grids": {"tiny": {**grid_of(cloned), "outputs": "metrics"}}})
    for folder in ("figures", "records/plot"):
        shutil.rmtree(cloned.root / "results" / folder, ignore_errors=True)
    cloned.run("dvc", "repro")
    assert CLEAN in cloned.run("dvc", "status", "dvc.yaml").stdout
    assert not cloned.digests("results/figures")


def test_every_study_has_a_stage_of_its_own(published: Project) -> None:
    stages = yaml.safe_load((published.root / "config/dvc.yaml").read_text())["stages"]
    listed = published.run("dvc", "stage", "list", "config/dvc.yaml", "--name-only").stdout.split()
    named = {re.split("[@:]", name)[-1] for name in listed}
    assert named == {path.stem for path in (published.root / "config/studies").glob("*.yaml")}
    assert len(listed) == len(named)
    for name in {*stages} - {"study"}:
        assert stages[name]["deps"][-1] == f"config/studies/{name}.yaml"


def test_a_study_runs_by_its_stage_alone(published: Project, tmp_path: Path) -> None:
    """The tiny study in place of one; its results are there, and its rows are written."""
    cloned = clone(published, tmp_path / "clone")
    shutil.copy(cloned.root / "config/config.yaml", cloned.root / "config/studies/width.yaml")
    rows = cloned.root / "docs/results/runs/width.csv"
    rows.unlink(missing_ok=True)
    stage = "config/dvc.yaml:study@width"
    assert UNCHANGED in cloned.run("dvc", "repro").stdout
    assert not rows.exists()
    cloned.run("dvc", "repro", stage)
    assert [row["run"] for row in csv.DictReader(rows.read_text().splitlines())] == [RUN]
    lock = yaml.safe_load((cloned.root / "config/dvc.lock").read_text())["stages"]
    assert [*lock] == ["study@width"]
    assert [out["path"] for out in lock["study@width"]["outs"]] == ["docs/results/runs/width.csv"]
    assert "didn't change, skipping" in cloned.run("dvc", "repro", stage).stdout
    study = cloned.root / "config/studies/width.yaml"
    study.write_text(study.read_text() + "# another word\n")
    assert "modified" in cloned.run("dvc", "status", stage).stdout
    assert CLEAN in cloned.run("dvc", "status", "dvc.yaml").stdout


def grid_of(project: Project) -> dict[str, Any]:
    """Give the grid of the tiny study."""
    return yaml.safe_load((project.root / "config/config.yaml").read_text())["grids"]["tiny"]


@pytest.mark.slow
def test_history_is_up_to_date_where_it_is_checked_out(
    published: Project, changed: Project
) -> None:
    after = changed.digests()
    for commit, results in (("HEAD~1", published.digests()), ("main", after)):
        changed.run("git", "checkout", "--quiet", commit)
        changed.run("dvc", "checkout")
        assert changed.digests() == results
        assert changed.planned() == {}


@pytest.mark.slow
def test_failed_run_leaves_the_lock_and_is_repaired(published: Project, tmp_path: Path) -> None:
    cloned = clone(published, tmp_path / "clone")
    locked = (cloned.root / "dvc.lock").read_bytes()
    cloned.configure({"pretraining": {"tiny": {"epochs": 20, "batch": 151}}})
    failed = cloned.run("dvc", "repro", status=255)
    assert "has 150 train rows" in failed.stdout + failed.stderr
    assert (cloned.root / "dvc.lock").read_bytes() == locked
    cloned.run("git", "checkout", "--quiet", "config")
    cloned.run("dvc", "checkout", "--force")
    assert cloned.digests() == published.digests()
    assert cloned.planned() == {}
