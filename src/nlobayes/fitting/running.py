"""Running of jobs in this process or in workers, with a progress bar and the workflow's results."""

from __future__ import annotations

import io
import logging
import os
import sys
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import (
    AbstractContextManager,
    ExitStack,
    contextmanager,
    nullcontext,
    redirect_stderr,
    suppress,
)
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import NamedTuple, TextIO

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from nlobayes import runtime
from nlobayes.artifacts.places import project
from nlobayes.arviz_parts import has_no_plots, without_plots
from nlobayes.fitting.jobs import Job, Line, Wave, log_of
from nlobayes.stages import function_of

WIDTH, EVERY = 20, 2.0
"""Width of the bar in characters, and seconds between two updates of the progress of chains."""
CACHE = Path.home() / ".cache/nlobayes/jax"
IN_WORDS = {
    "simulate": "table",
    "prepare": "dataset",
    "pretrain": "MAP",
    "check_convergence": "convergence",
    "posterior_predictive": "predictions",
}
"""Labels in the bar of commands whose name is no noun."""
_ALONE = threading.RLock()
"""Lock for one job at a time: JAX settings, environment and standard error are per process."""

Show = Callable[[str], None]
"""Shows a line of output."""


def run_waves(
    waves: Iterable[Wave],
    root: Path,
    precision: str,
    *,
    workers: int = 1,
    shown: bool = True,
    account: Callable[[], str] | None = None,
) -> list[str]:
    """Run jobs wave by wave, with results below `root`.

    Parameters
    ----------
    workers
        Number of processes that run the lines of a wave.
    account
        Describes the progress of the run for the bar, which gets no output of other processes.

    Returns
    -------
    Output of the jobs, line by line.

    Raises
    ------
    InputError
        If a command refuses its input, as it would on the command line.
    """
    planned, output = list(waves), list[str]()
    total = sum(len(line) for wave in planned for line in wave)
    with _bar(total, shown) as bar, _no_advice_on_workers():
        for wave in planned:
            bar.show(_label(wave))
            processes = workers if len(wave) > 1 else 1
            with _account_shown(bar, account if processes > 1 else None):
                for lines in _results(wave, root, precision, processes, bar.show):
                    output += lines
                    bar.advance()
    return output


def run_job(job: Job, root: Path, precision: str, show: Show | None = None) -> list[str]:
    """Run one job as in a separate process, and return its output, which `show` gets immediately.

    Jobs of chains also write their output to a log, at the path that the workflow uses.
    """
    with ExitStack() as opened, _ALONE, as_a_job(precision), project(root):
        log = log_of(job, root)
        output = _Output(show, opened.enter_context(_new_log(log)) if log else None)
        with redirect_stderr(output):
            function_of(job.command)(**job.options)
    return output.lines


def run_line(line: Line, root: Path, precision: str, no_plots: bool) -> list[list[str]]:
    """Run the jobs of a line in a worker, and return the output of each.

    `no_plots` leaves out the plots of ArviZ, which only processes of nlobayes may do.
    """
    if no_plots:
        without_plots()
    return [run_job(job, root, precision) for job in line]


def _results(
    wave: Wave, root: Path, precision: str, workers: int, show: Show
) -> Iterator[list[str]]:
    """Run the jobs of a wave, here or in workers, and yield the output of each when it is done."""
    if workers == 1:
        return (run_job(job, root, precision, show) for line in wave for job in line)
    from joblib import Parallel, delayed

    calls = (delayed(run_line)(line, root, precision, has_no_plots()) for line in wave)
    done = Parallel(workers, return_as="generator_unordered")(calls)
    return chain.from_iterable(done)


def _label(wave: Wave) -> str:
    command = wave[0][-1].command
    return IN_WORDS.get(command, command)


@contextmanager
def as_a_job(precision: str) -> Iterator[None]:
    """Set up JAX and PyTensor as the command of a job does, and restore the settings afterwards."""
    before, cache = dict(os.environ), Path(os.environ.get("JAX_COMPILATION_CACHE_DIR", CACHE))
    with ExitStack() as settings:
        settings.callback(_restore, before)
        from nlobayes.model.precision import computing_in

        with _no_advice_on_compilers():
            settings.enter_context(computing_in(precision, cache))
        runtime.configure(precision)
        settings.enter_context(_one_thread_in_blas())
        yield


def _one_thread_in_blas() -> AbstractContextManager[object]:
    """Let the BLAS that this process has loaded use one thread, as that of a job does.

    Its threads make the factorisation of small matrices slower, and change last digits.
    """
    if find_spec("threadpoolctl") is None:
        return nullcontext()
    from threadpoolctl import threadpool_limits

    limits: AbstractContextManager[object] = threadpool_limits(1, user_api="blas")
    return limits


@contextmanager
def _no_advice_on_workers() -> Iterator[None]:
    """Suppress joblib's warning that it starts a worker anew, as it does where memory has grown."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "A worker stopped while some jobs", UserWarning)
        yield


@contextmanager
def _no_advice_on_compilers() -> Iterator[None]:
    """Suppress PyTensor's warning about a missing C++ compiler, which jobs do not need."""
    logger = logging.getLogger("pytensor.configdefaults")
    before = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(before)


def _restore(before: dict[str, str]) -> None:
    os.environ.clear()
    os.environ.update(before)


class _Bar(NamedTuple):
    """Functions that show a line of output and count a finished job.

    `seen` is true if a terminal or a notebook shows the bar.
    """

    show: Show
    advance: Callable[[], None]
    seen: bool


@contextmanager
def _bar(jobs: int, shown: bool) -> Iterator[_Bar]:
    """Show the number of finished jobs and the last line of the running job in a terminal."""
    console = Console(file=sys.stderr)
    seen = shown and (console.is_terminal or console.is_jupyter)
    columns = (BarColumn(WIDTH), TextColumn("{task.completed}/{task.total}"), TimeElapsedColumn())
    last_line = TextColumn("{task.description}")
    with Progress(*columns, last_line, console=console, disable=not seen) as bar:
        task = bar.add_task("", total=jobs)
        yield _Bar(
            lambda text: bar.update(task, description=text),
            lambda: bar.advance(task),
            seen,
        )


@contextmanager
def _account_shown(bar: _Bar, account: Callable[[], str] | None) -> Iterator[None]:
    """Show the progress of the run in the bar every few seconds, if there is a terminal."""
    if account is None or not bar.seen:
        yield
        return
    ended = threading.Event()

    def update() -> None:
        while not ended.wait(EVERY):
            with suppress(OSError):  # a file that is being replaced
                bar.show(account())

    thread = threading.Thread(target=update, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def _new_log(path: Path) -> TextIO:
    path.parent.mkdir(parents=True, exist_ok=True)
    return path.open("w", encoding="utf-8", buffering=1)


class _Output(io.StringIO):
    """Standard error of a job: it stores and logs the text, and passes lines to `show`."""

    def __init__(self, show: Show | None, log: TextIO | None = None) -> None:
        super().__init__()
        self._show, self._log = show, log

    @property
    def lines(self) -> list[str]:
        """Lines of the output so far."""
        return self.getvalue().splitlines()

    def write(self, text: str) -> int:
        """Store and log text, and show its last line."""
        written = super().write(text)
        if self._log:
            self._log.write(text)
        if self._show and text.strip():
            self._show(text.strip().splitlines()[-1])
        return written
