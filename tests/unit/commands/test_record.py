"""Refusals of `nlobayes record` before it calls Snakemake, in a project of a few empty files."""

from __future__ import annotations

import json
import os
import subprocess
from base64 import urlsafe_b64encode
from pathlib import Path
from typing import Any

import pytest

from nlobayes.commands.audit import record as verb
from nlobayes.commands.audit.record import record
from tests.refusals import refused

TABLE = "data/points.csv"


def git(*words: str) -> None:
    identity = ["-c", "user.name=Tester", "-c", "user.email=tester@example.org"]
    subprocess.run(["git", *identity, *words], check=True, capture_output=True)


def remember(output: str, content: str) -> None:
    """Write a record as Snakemake does: a long name becomes folders that begin with @."""
    encoded = urlsafe_b64encode(output.encode()).decode()
    *folders, name = [encoded[i : i + 254] for i in range(0, len(encoded), 254)]
    path = Path(".snakemake/metadata", *("@" + folder for folder in folders), name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A committed project whose only result was made from a user's table."""
    monkeypatch.setattr(os, "environ", {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull})
    monkeypatch.chdir(tmp_path)
    for name in ("Snakefile", "dvc.yaml", ".dvc/config", "src/model.py", TABLE):
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).touch()
    remember("results/data/points.nc", json.dumps({"input": [TABLE]}))
    git("init", "--quiet")
    git("add", "Snakefile", "dvc.yaml", ".dvc", "src", TABLE)
    git("commit", "--message=Study")

    def reach() -> None:
        raise Reached

    monkeypatch.setattr(verb, "_check_graph", reach)
    return tmp_path


class Reached(Exception):
    """Nothing is refused before Snakemake is called."""


def assert_refused(code: str, **fields: Any) -> None:
    with refused(f"commands.{code}", where="record", **fields):
        record()


def assert_not_refused() -> None:
    with pytest.raises(Reached):
        record()


def test_in_a_committed_project_snakemake_is_called(project: Path) -> None:
    assert_not_refused()


def test_a_running_workflow_is_refused(project: Path) -> None:
    (project / ".snakemake/locks").mkdir()
    (project / ".snakemake/locks/0.output.lock").touch()
    assert_refused("workflow_runs")


@pytest.mark.parametrize("name", ["src/model.py", "Snakefile", TABLE])
def test_a_modified_input_is_refused(project: Path, name: str) -> None:
    (project / name).write_text("1\n")
    assert_refused("not_committed", files=[name])


def test_a_table_that_git_ignores_belongs_to_dvc(project: Path) -> None:
    git("rm", "--cached", TABLE)
    (project / ".gitignore").write_text("/data/*.csv\n")
    git("commit", "--message=Without table")
    assert_refused("not_committed", files=[TABLE])
    (project / "data.dvc").touch()
    assert_refused("not_committed", files=["data.dvc"])
    git("add", "data.dvc")
    git("commit", "--message=Table")
    assert_not_refused()


def test_a_project_without_git_is_refused(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (project / ".git").rename(project / "git")
    with refused("commands.program_failed") as caught:
        record()
    assert "not a git repository" in caught.value.fields["reason"]
    monkeypatch.setenv("PATH", str(project / "nowhere"))
    assert_refused("no_program", program="git")


def test_only_what_the_workflow_made_is_recorded(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    long = f"results/figures/{'/'.join(['long'] * 60)}/loss.svg"
    for name in ("results/data/points.nc", "results/data/.hidden", long):
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).touch()
    monkeypatch.setattr(verb, "_check_graph", lambda: None)
    assert_refused("not_of_workflow", files=[long])
    remember(long, '{"input": []}')
    (project / "results/mine.txt").touch()
    assert_refused("not_of_workflow", files=["results/mine.txt"])


@pytest.mark.parametrize("name", ["Snakefile", "dvc.yaml", ".dvc"])
def test_another_folder_is_refused(project: Path, name: str) -> None:
    (project / name).rename(project / "elsewhere")
    assert_refused("no_project", folder=project, missing=[name])
