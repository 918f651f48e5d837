"""Sources of users: read once, only if a job needs them, and refused in one line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace as Wildcards

import pytest

from nlobayes.errors import InputError
from nlobayes.study.jobs import PrepareJob
from nlobayes.workflow.plan import Plan
from nlobayes.workflow.sources import Sources

TABLE = "data/kinds.csv"
KINDS = Wildcards(dataset="kinds")


def write_table(project: Path) -> None:
    (project / "data").mkdir()
    (project / TABLE).write_text("x,kind\n1,0\n")


def printed_error(call: Callable[[], object], capsys: pytest.CaptureFixture[str]) -> str:
    """Return the line that stops the planning."""
    with pytest.raises(SystemExit) as stopped:
        call()
    assert stopped.value.code == 2
    (line,) = capsys.readouterr().err.splitlines()
    return line


def test_a_table_is_looked_at_once_and_only_when_planning(plan: Plan, in_project: Path) -> None:
    write_table(in_project)
    seen: list[Path] = []

    def preview(job: PrepareJob, path: Path) -> None:
        seen.append(path)

    running, planning = (Sources(plan, preview, is_planning=each) for each in (False, True))
    assert running.table(KINDS) == TABLE
    assert seen == []
    assert [planning.table(KINDS) for _ in range(2)] == [TABLE, TABLE]
    assert seen == [Path(TABLE)]
    assert planning.table(Wildcards(dataset="made")) == "results/tables/made.parquet"


def test_a_table_that_is_absent_or_does_not_fit_stops_the_planning(
    plan: Plan, in_project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(job: PrepareJob, path: Path) -> None:
        raise InputError("workflow.no_path_of_study", path="x")

    absent = printed_error(lambda: Sources(plan, refuse, True).table(KINDS), capsys)
    assert absent.startswith("nlobayes: error: datasets.kinds.source.path: data/kinds.csv")
    write_table(in_project)
    unfit = printed_error(lambda: Sources(plan, refuse, True).table(KINDS), capsys)
    assert unfit.startswith("nlobayes: error: datasets.kinds: x ")


def test_only_tables_of_users_are_digested(plan: Plan, in_project: Path) -> None:
    write_table(in_project)
    sources = Sources(plan, print, True)
    before = sources.digest_of_table(KINDS)
    (in_project / TABLE).write_text("x,kind\n2,0\n")
    assert before
    assert sources.digest_of_table(KINDS) == before  # once for all callers
    assert Sources(plan, print, True).digest_of_table(KINDS) != before
    assert sources.digest_of_table(Wildcards(dataset="made")) == ""
