"""Results without Snakemake's records stop the workflow, and every way to mend that stays open."""

from __future__ import annotations

import shutil
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.workflow.conftest import Project

pytestmark = pytest.mark.workflow

METADATA = ".snakemake/metadata"


def refusal(project: Project, *words: str) -> str:
    """Run Snakemake, which refuses, and give the one line that says why."""
    (line,) = [
        line
        for line in project.snakemake(*words, status=2).stderr.splitlines()
        if not line.startswith("Using workflow specific profile")
    ]
    assert line.startswith("nlobayes: error: results/")
    return line


@pytest.fixture
def forgotten(tiny: Project, tmp_path: Path) -> Project:
    """The finished tiny study, brought here without Snakemake's records."""
    project = tiny.copy_to(tmp_path / "project")
    shutil.rmtree(project.root / METADATA)
    return project


def test_partial_pull_is_refused_until_the_rest_is_pulled(
    published: Project, tmp_path: Path
) -> None:
    project = published.clone_to(tmp_path / "clone")
    project.run("dvc", "pull", "results/metrics")
    for words in (("--dry-run",), ()):
        assert "`dvc pull`" in refusal(project, *words)
    assert not (project.root / "results/tables").exists()
    project.run("dvc", "pull")
    assert project.planned() == {}
    assert project.digests() == published.digests()


def test_lost_records_are_refused_until_they_are_checked_out(
    published: Project, tmp_path: Path
) -> None:
    project = published.copy_to(tmp_path / "copy")
    shutil.rmtree(project.root / ".snakemake")
    assert "`dvc checkout`" in refusal(project, "--dry-run")
    project.run("dvc", "checkout")
    assert project.planned() == {}


def test_results_can_be_moved_away(forgotten: Project, tmp_path: Path) -> None:
    assert "move results/ away" in refusal(forgotten, "--dry-run")
    (forgotten.root / "results").rename(tmp_path / "results")
    assert forgotten.planned()["simulate"] == 1


@pytest.mark.slow
def test_results_can_be_declared_current(forgotten: Project) -> None:
    before = forgotten.digests()
    forgotten.snakemake("--unlock")
    forgotten.snakemake("--touch", "--forceall")
    assert "missing provenance" not in forgotten.snakemake("--dry-run").stdout
    assert forgotten.planned() == {}
    assert forgotten.digests() == before


def test_jobs_elsewhere_do_not_ask(forgotten: Project) -> None:
    """A job reads the Snakefile again while the first outputs of others appear."""
    forgotten.snakemake("--mode", "remote", "--cores", "1", "--dry-run")


@pytest.mark.slow
def test_first_run_killed_before_its_first_record_goes_on(unbuilt: Project, tmp_path: Path) -> None:
    """Snakemake is killed and its job is not: an output appears that nobody recorded."""
    project = unbuilt.copy_to(tmp_path / "project")
    first = project.root / "results/tables/tiny.parquet"
    running = project.start("snakemake", "results/data/tiny.nc", log=tmp_path / "log")
    wait_for(project.root / ".snakemake/incomplete", "*")
    running.kill()
    running.wait()
    wait_for(first.parent, first.name)
    assert not [*(project.root / METADATA).iterdir()]
    project.snakemake("--unlock")
    assert project.planned("results/data/tiny.nc") == {"simulate": 1, "prepare": 1}


def wait_for(folder: Path, pattern: str) -> None:
    """Wait until a file appears."""
    for _ in range(1200):
        if any(folder.glob(pattern)):
            return
        time.sleep(0.1)
    pytest.fail(f"no {pattern} in {folder}")
