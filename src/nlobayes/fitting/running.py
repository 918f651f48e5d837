"""Jobs run in this process or in workers, with a bar, computing as jobs of the workflow do."""

from __future__ import annotations

import io
import logging
import os
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, redirect_stderr, suppress
from importlib import import_module
from itertools import chain
from pathlib import Path
from typing import NamedTuple, TextIO

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from nlobayes.artifacts.places import project
from nlobayes.fitting.jobs import Job, Line, Wave, log_of
from nlobayes.stages import function_of

RUNTIME = "nlobayes.commands.shared.runtime"
"""Called by its name, as the commands are: these may run jobs, so nothing here imports them."""
WIDTH, EVERY = 20, 2.0
"""Of the bar in characters, and seconds after which it shows again how far chains are."""
CACHE = Path.home() / ".cache/nlobayes/jax"
IN_WORDS = {
    "simulate": "table",
    "prepare": "dataset",
    "pretrain": "MAP",
    "check_convergence": "convergence",
    "posterior_predictive": "predictions",
}
"""What the bar calls commands whose name is no noun."""
_ALONE = threading.RLock()
"""Settings of JAX, the environment and standard error belong to the whole process."""

Tell = Callable[[str], None]


def run_waves(
    waves: Iterable[Wave],
    root: Path,
    precision: str,
    *,
    workers: int = 1,
    shown: bool = True,
    account: Callable[[], str] | None = None,
) -> list[str]:
    """Run jobs wave by wave, those of a wave in so many processes; results lie below `root`.

    Parameters
    ----------
    account
        Describes the progress of the run for the bar, which gets no output of other processes.

    Returns
    -------
    Their output, line by line.

    Raises
    ------
    InputError
        If a command refuses its input, as it would on the command line.
    """
    planned, said = list(waves), list[str]()
    with _bar(sum(len(line) for wave in planned for line in wave), shown) as bar:
        for wave in planned:
            bar.tell(_named(wave))
            beside = workers if len(wave) > 1 else 1
            with _account_shown(bar, account if beside > 1 else None):
                for lines in _results(wave, root, precision, beside, bar.tell):
                    said += lines
                    bar.advance()
    return said


def run_job(job: Job, root: Path, precision: str, tell: Tell | None = None) -> list[str]:
    """Run one job as in a separate process, and return its output; `tell` gets it at once.

    Jobs of chains also write it to their log, where those of the workflow do.
    """
    with ExitStack() as opened, _ALONE, as_a_job(precision), project(root):
        log = log_of(job, root)
        heard = _Heard(tell, opened.enter_context(_new_log(log)) if log else None)
        with redirect_stderr(heard):
            function_of(job.command)(**job.options)
    return heard.lines


def run_line(line: Line, root: Path, precision: str) -> list[list[str]]:
    """Run the jobs of a line in a worker, and return the output of each."""
    return [run_job(job, root, precision) for job in line]


def _results(
    wave: Wave, root: Path, precision: str, workers: int, tell: Tell
) -> Iterator[list[str]]:
    """Run the jobs of a wave, here or in workers, and return the output of each when it is done."""
    if workers == 1:
        return (run_job(job, root, precision, tell) for line in wave for job in line)
    from joblib import Parallel, delayed

    calls = (delayed(run_line)(line, root, precision) for line in wave)
    done = Parallel(workers, return_as="generator_unordered")(calls)
    return chain.from_iterable(done)


def _named(wave: Wave) -> str:
    command = wave[0][-1].command
    return IN_WORDS.get(command, command)


@contextmanager
def as_a_job(precision: str) -> Iterator[None]:
    """Set JAX and PyTensor as the command of a job does before it imports them; put all back."""
    before, cache = dict(os.environ), Path(os.environ.get("JAX_COMPILATION_CACHE_DIR", CACHE))
    with ExitStack() as settings:
        settings.callback(_restore, before)
        from nlobayes.model.precision import computing_in

        with _no_advice_on_compilers():
            settings.enter_context(computing_in(precision, cache))
        import_module(RUNTIME).configure(precision)
        yield


@contextmanager
def _no_advice_on_compilers() -> Iterator[None]:
    """PyTensor, when imported, warns where there is no C++ compiler; jobs need none."""
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
    """Calls for a line of output and for a finished job; `seen`: whether a terminal shows them."""

    tell: Tell
    advance: Callable[[], None]
    seen: bool


@contextmanager
def _bar(jobs: int, shown: bool) -> Iterator[_Bar]:
    """Show the number of finished jobs and the last line of the present one, on a terminal."""
    console = Console(file=sys.stderr)
    seen = shown and (console.is_terminal or console.is_jupyter)
    columns = (BarColumn(WIDTH), TextColumn("{task.completed}/{task.total}"), TimeElapsedColumn())
    said = TextColumn("{task.description}")
    with Progress(*columns, said, console=console, disable=not seen) as bar:
        task = bar.add_task("", total=jobs)
        yield _Bar(
            lambda text: bar.update(task, description=text),
            lambda: bar.advance(task),
            seen,
        )


@contextmanager
def _account_shown(bar: _Bar, account: Callable[[], str] | None) -> Iterator[None]:
    """Show the progress of the run in the bar every few seconds, on a terminal."""
    if account is None or not bar.seen:
        yield
        return
    ended = threading.Event()

    def tell_again() -> None:
        while not ended.wait(EVERY):
            with suppress(OSError):  # a file that is being replaced
                bar.tell(account())

    teller = threading.Thread(target=tell_again, daemon=True)
    teller.start()
    try:
        yield
    finally:
        ended.set()
        teller.join()


def _new_log(path: Path) -> TextIO:
    path.parent.mkdir(parents=True, exist_ok=True)
    return path.open("w", encoding="utf-8", buffering=1)


class _Heard(io.StringIO):
    """Standard error of a job: its lines are kept, logged, and passed to `tell`."""

    def __init__(self, tell: Tell | None, log: TextIO | None = None) -> None:
        super().__init__()
        self._tell, self._log = tell, log

    @property
    def lines(self) -> list[str]:
        """The output so far."""
        return self.getvalue().splitlines()

    def write(self, text: str) -> int:
        """Keep text, and pass on its last line."""
        written = super().write(text)
        if self._log:
            self._log.write(text)
        if self._tell and text.strip():
            self._tell(text.strip().splitlines()[-1])
        return written
