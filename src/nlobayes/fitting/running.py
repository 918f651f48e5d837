"""Stages in this process or in workers, each as a job of its own, with a progress bar and logs."""

from __future__ import annotations

import io
import sys
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import (
    AbstractContextManager,
    contextmanager,
    nullcontext,
    redirect_stderr,
    suppress,
)
from pathlib import Path
from typing import Any, TextIO

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from nlobayes.artifacts.places import project
from nlobayes.arviz_parts import has_no_plots, without_plots
from nlobayes.fitting.job_in_process import as_a_job

WIDTH, EVERY = 20, 2.0
"""Width of the bar in characters, and seconds between two updates of the progress of chains."""
GROWTH = 2e9
"""Bytes by which the memory of a worker may grow; joblib then replaces it. Its own limit is 3e8,
less than the compiled functions of one run, which the next worker would compile again."""
_ALONE = threading.RLock()
"""Lock for one job at a time: JAX settings, environment and standard error are per process."""

Show = Callable[[str], None]
"""Shows a line of output."""


class Bar:
    """The number of finished stages, and the last line of the running one; it may be hidden."""

    def __init__(self, bar: Progress, account: Callable[[], str] | None = None) -> None:
        self._bar, self._account, self._task = bar, account, bar.add_task("", total=None)

    def expect(self, stages: int) -> None:
        """Set the number of stages."""
        self._bar.update(self._task, total=stages)

    def show(self, text: str) -> None:
        """Show a line."""
        self._bar.update(self._task, description=text)

    def advance(self, stages: int) -> None:
        """Count finished stages."""
        self._bar.advance(self._task, stages)

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Show the account of the run every few seconds, while workers compute."""
        ended = threading.Event()

        def update() -> None:
            while self._account and not ended.wait(EVERY):
                with suppress(OSError):  # a file that is being replaced
                    self.show(self._account())

        thread = threading.Thread(target=update, daemon=True)
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()


@contextmanager
def progress_bar(shown: bool, account: Callable[[], str] | None = None) -> Iterator[Bar]:
    """Make a bar in a terminal or a notebook if it is to be shown.

    `account` describes the progress of chains in workers, whose output the bar does not get.
    """
    console = Console(file=sys.stderr)
    seen = shown and (console.is_terminal or console.is_jupyter)
    columns = (BarColumn(WIDTH), TextColumn("{task.completed}/{task.total}"), TimeElapsedColumn())
    last_line = TextColumn("{task.description}")
    with Progress(*columns, last_line, console=console, disable=not seen) as bar:
        yield Bar(bar, account if seen else None)


@contextmanager
def one_job(root: Path, precision: str, show: Show, log: Path | None) -> Iterator[list[str]]:
    """Run what follows as a separate process would, with results below `root`.

    Yields
    ------
    The lines of its standard error, complete at its end; `show` and the log get them immediately.
    """
    lines: list[str] = []
    with _ALONE, as_a_job(precision), project(root), _new_log(log) as file:
        output = _Output(show, file)
        with redirect_stderr(output):
            yield lines
    lines += output.getvalue().splitlines()


def in_workers(
    workers: int,
    call: Callable[..., Any],
    arguments: Iterable[Any],
    done: Callable[[Any], None],
) -> None:
    """Call a function in processes, once per argument; `done` gets each result when it comes.

    Joblib's warning that it starts a worker anew, as it does where memory has grown, is suppressed.
    """
    from joblib import Parallel, delayed

    calls = (delayed(_in_worker)(call, argument, has_no_plots()) for argument in arguments)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "A worker stopped while some jobs", UserWarning)
        for result in Parallel(workers, return_as="generator_unordered")(calls):
            done(result)


def _in_worker(call: Callable[..., Any], argument: Any, no_plots: bool) -> Any:
    """Call a function, without the plots of ArviZ in processes that are of nlobayes alone."""
    from joblib.externals.loky import process_executor

    process_executor._MAX_MEMORY_LEAK_SIZE = GROWTH
    if no_plots:
        without_plots()
    return call(argument)


def _new_log(path: Path | None) -> AbstractContextManager[TextIO | None]:
    if path is None:
        return nullcontext()
    path.parent.mkdir(parents=True, exist_ok=True)
    return path.open("w", encoding="utf-8", buffering=1)


class _Output(io.StringIO):
    """Standard error of a job: it stores and logs the text, and passes lines to `show`."""

    def __init__(self, show: Show, log: TextIO | None) -> None:
        super().__init__()
        self._show, self._log = show, log

    def write(self, text: str) -> int:
        """Store and log text, and show its last line."""
        if self._log:
            self._log.write(text)
        if text.strip():
            self._show(text.strip().splitlines()[-1])
        return super().write(text)
