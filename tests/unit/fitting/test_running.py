"""Display of a running fit: finished jobs, and the progress of chains in other processes."""

from __future__ import annotations

import io
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from joblib.externals.loky import process_executor
from rich.console import Console
from threadpoolctl import threadpool_info, threadpool_limits

from nlobayes.fitting import running
from nlobayes.fitting.fits import account_of
from nlobayes.fitting.running import as_a_job
from nlobayes.fitting.studies import Choices, configure, plan_of
from nlobayes.study.grids import RunSpec
from nlobayes.watching.chain_files import reported_steps

DATASET = {
    "source": {"kind": "table", "path": "t.csv"},
    "features": {"map": "raw", "columns": ["a"]},
    "target": {"column": "y", "unit": "", "scale": "identity"},
    "split": {"train": 0.7, "validation": 0.15, "test": 0.15},
}


def test_that_joblib_starts_a_worker_anew_is_no_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is of no use to a user; every other warning is shown."""
    anew = (
        "A worker stopped while some jobs were given to the executor. This can be caused by a too "
        "short worker timeout or by a memory leak."
    )

    def parallel(*_: Any, **__: Any) -> Callable[..., Iterator[Any]]:
        def warned(calls: Iterator[Any]) -> Iterator[Any]:
            warnings.warn(anew, UserWarning, stacklevel=1)
            warnings.warn("another", UserWarning, stacklevel=1)
            return iter(range(len([*calls])))

        return warned

    monkeypatch.setattr("joblib.Parallel", parallel)
    done: list[int] = []
    with pytest.warns(UserWarning, match="another") as shown:
        running.in_workers(2, abs, [-1, -2], done.append)
    assert [str(one.message) for one in shown] == ["another"]
    assert done == [0, 1]


def test_joblib_has_the_limit_of_memory_that_workers_raise() -> None:
    """It is no documented setting; of another name it would be without effect."""
    assert process_executor._MAX_MEMORY_LEAK_SIZE < running.GROWTH


def test_a_job_writes_the_log_that_progress_is_read_from(tmp_path: Path) -> None:
    """It is written line by line; every line is shown, and returned at the end."""
    log, shown = tmp_path / "logs/draw/a/b/0/2.log", list[str]()
    with running.one_job(tmp_path, "float64", shown.append, log) as lines:
        sys.stderr.write("draws of chains [0]: 30 of 40\n")
        assert reported_steps(log) == 30
    assert lines == shown == ["draws of chains [0]: 30 of 40"]


def test_a_bar_in_a_terminal_counts_stages_and_shows_the_account_of_workers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Nothing is written where no terminal is, or no bar is wanted."""
    monkeypatch.setattr(running, "EVERY", 0.01)
    for is_terminal, shown in ((True, True), (True, False), (False, True)):
        written = io.StringIO()
        console = Console(file=written, force_terminal=is_terminal, width=80, color_system=None)
        monkeypatch.setattr(running, "Console", lambda console=console, **_: console)
        with running.progress_bar(shown, lambda: "drawing, 30 of 40") as bar:
            bar.expect(7)
            bar.advance(2)
            with bar.watching():
                time.sleep(0.3)
        last = written.getvalue()
        assert ("2/7" in last and "drawing, 30 of 40" in last) == (is_terminal and shown)
        assert not (last.strip() and not shown)


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
        with as_a_job("float64"):
            assert threads() == {1}
        assert threads() == before
