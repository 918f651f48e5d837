"""`nlobayes record`: what Snakemake made when called directly is found again by a clone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from nlobayes.errors import InputError

if TYPE_CHECKING:
    from tests.workflow.conftest import Project

pytestmark = pytest.mark.workflow

RUN = "tiny/n4/fan_in/tolerance_10/tiny/tiny/s1"
RULES = ("evaluate", "plot_chains", "tabulate", "plot", "export")
FORGOTTEN = ("config/config.yaml", "src/nlobayes/extra.py")


@pytest.fixture(scope="module")
def direct(tiny: Project, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """The tiny study run by calling Snakemake, its inputs committed; tests do not write into it."""
    folder = tmp_path_factory.mktemp("direct")
    project = tiny.copy_to(folder / "project")
    project.run("git", "init", "--quiet", "--initial-branch=main")
    project.run("dvc", "remote", "add", "--default", "store", folder / "store")
    commit(project)
    return project


def commit(project: Project) -> None:
    """Commit everything that Git does not ignore."""
    project.run("git", "add", "--all")
    project.run("git", "commit", "--quiet", "--message=Study")


def test_a_clone_finds_what_was_recorded(direct: Project, tmp_path: Path) -> None:
    project = direct.copy_to(tmp_path / "project")
    before, times = project.digests(), project.times()
    assert "git add dvc.lock" in project.run("nlobayes", "record").stdout
    assert (project.digests(), project.times()) == (before, times)
    assert project.run("git", "status", "--porcelain").stdout == "?? dvc.lock\n"
    assert "already" in project.run("nlobayes", "record").stdout
    commit(project)
    project.run("dvc", "push")
    cloned = project.clone_to(tmp_path / "clone")
    cloned.run("dvc", "pull")
    assert cloned.digests() == before
    assert cloned.planned() == {}
    assert "up to date" in cloned.run("dvc", "status", "dvc.yaml").stdout


def change_a_parameter(project: Project) -> None:
    project.configure({"evaluation": {"default": {"noise": "student_t"}}})
    commit(project)


def forget_to_commit(project: Project) -> None:
    project.configure({"seeds": [1]})
    (project.root / "src/nlobayes/extra.py").touch()


def add_a_file(project: Project) -> None:
    (project.root / "results/notes.txt").write_text("mine")


def remove_an_intermediate(project: Project) -> None:
    (project.root / f"results/chains/{RUN}/0/segment_0.nc").unlink()


def remove_git(project: Project) -> None:
    (project.root / ".git").rename(project.root.parent / "git")


def told(name: str, **fields: Any) -> str:
    """Word a refusal as the command line does."""
    return str(InputError(f"commands.{name}", where="record", **fields))


@pytest.mark.parametrize(
    ("disturb", "said"),
    [
        (change_a_parameter, told("not_up_to_date", rules=RULES)),
        (forget_to_commit, told("not_committed", files=FORGOTTEN)),
        (add_a_file, told("not_of_workflow", files=["results/notes.txt"])),
        (remove_an_intermediate, told("removed", files=[f"results/chains/{RUN}/0/segment_0.nc"])),
        (remove_git, "not a git repository"),
    ],
)
@pytest.mark.by_day(2)
def test_what_a_clone_would_not_find_is_refused(
    direct: Project, tmp_path: Path, disturb: Callable[[Project], None], said: str
) -> None:
    project = direct.copy_to(tmp_path / "project")
    disturb(project)
    before = project.digests()
    refused = project.run("nlobayes", "record", status=2)
    assert refused.stdout == ""
    (line,) = refused.stderr.splitlines()
    assert line.startswith("nlobayes: error: record: ")
    assert said in line
    assert not (project.root / "dvc.lock").exists()
    assert project.digests() == before


@pytest.mark.slow
def test_a_removed_intermediate_is_made_again(direct: Project, tmp_path: Path) -> None:
    """As the refusal says: and its bytes are the same."""
    project = direct.copy_to(tmp_path / "project")
    before = project.digests()
    removed = "results/tables/tiny.parquet"
    (project.root / removed).unlink()
    project.snakemake(removed)
    assert project.digests() == before
    project.run("nlobayes", "record")
