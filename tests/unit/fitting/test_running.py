"""Display of a running fit: finished jobs, and the progress of chains in other processes."""

from __future__ import annotations

import io
import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from threadpoolctl import threadpool_info, threadpool_limits

from nlobayes.fitting import running
from nlobayes.fitting.fits import account_of
from nlobayes.fitting.jobs import Job, Wave, log_of
from nlobayes.fitting.running import run_job, run_waves
from nlobayes.fitting.studies import Choices, configure, plan_of
from nlobayes.study.run import RunSpec
from nlobayes.watching.chain_files import reported_steps

DATASET = {
    "source": {"kind": "table", "path": "t.csv"},
    "features": {"map": "raw", "columns": ["a"]},
    "target": {"column": "y", "unit": "", "scale": "identity"},
    "split": {"train": 0.7, "validation": 0.15, "test": 0.15},
}


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    """Output of a terminal of 80 columns; workers need 0.3 s for a line of jobs."""
    shown = io.StringIO()
    console = Console(file=shown, force_terminal=True, width=80, color_system=None)
    monkeypatch.setattr(running, "Console", lambda **_: console)
    monkeypatch.setattr(running, "_results", results)
    monkeypatch.setattr(running, "EVERY", 0.01)
    return shown


def results(wave: Wave, *_: Any) -> Iterator[list[str]]:
    for line in wave:
        time.sleep(0.3)
        yield from ([job.command] for job in line)


def test_that_joblib_starts_a_worker_anew_is_no_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is of no use to a user; every other warning is shown."""
    anew = (
        "A worker stopped while some jobs were given to the executor. This can be caused by a too "
        "short worker timeout or by a memory leak."
    )

    def warned(*_: Any) -> Iterator[list[str]]:
        warnings.warn(anew, UserWarning, stacklevel=1)
        warnings.warn("another", UserWarning, stacklevel=1)
        yield []

    monkeypatch.setattr(running, "_results", warned)
    with pytest.warns(UserWarning, match="another") as shown:
        run_waves([[[Job("prepare", {})]]], Path(), "float32", shown=False)
    assert [str(one.message) for one in shown] == ["another"]


def test_jobs_of_chains_write_the_logs_that_progress_is_read_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Logs are written line by line, at the paths of the rules; other jobs write none."""
    log = tmp_path / "logs/draw/a/b/0/2.log"

    def drawing(out: Path) -> None:
        del out
        sys.stderr.write("draws of chains [0]: 30 of 40\n")
        assert reported_steps(log) == 30

    monkeypatch.setattr(running, "function_of", lambda _: drawing)
    job = Job("draw", {"out": tmp_path / "results/chains/a/b/0/segment_2.nc"})
    assert run_job(job, tmp_path, "float64") == ["draws of chains [0]: 30 of 40"]
    assert log_of(job, tmp_path) == log
    assert log_of(Job("thin", job.options), tmp_path) is None


def run_of_chains() -> RunSpec:
    return plan_of(configure("t", DATASET, Choices(network={"hidden": [4]})))[1]


def test_the_account_of_a_run_is_that_of_watch(tmp_path: Path) -> None:
    """It is read from files and logs, for any number of chain groups."""
    run = run_of_chains()
    account = account_of(run, tmp_path)
    assert account() == "not begun"
    maps = tmp_path / "results/pretrain" / run.model_id
    maps.mkdir(parents=True)
    (maps / "0.nc").touch()
    assert account() == f"pretraining, 1 of {len(run.chain_groups)}"
    log = tmp_path / f"logs/draw/{run.run_id}/0/0.log"
    log.parent.mkdir(parents=True)
    log.write_text("draws of chains [0]: 30 of 1000\n")
    assert account().startswith("drawing, 30 of ")


def test_matrices_are_factorised_with_one_thread() -> None:
    """A job of the workflow does so too; afterwards the process has its threads again."""

    def threads() -> set[int]:
        loaded = threadpool_info()
        return {int(one["num_threads"]) for one in loaded if one["user_api"] == "blas"}

    with threadpool_limits(2, user_api="blas"):
        before = threads()
        with running.as_a_job("float64"):
            assert threads() == {1}
        assert threads() == before
