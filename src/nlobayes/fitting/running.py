"""Stages in this process or in workers, each as a job of its own, with a progress bar and logs."""

from __future__ import annotations

import io
import logging
import os
import sys
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import (
    AbstractContextManager,
    ExitStack,
    contextmanager,
    nullcontext,
    redirect_stderr,
    suppress,
)
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TextIO

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from nlobayes import runtime
from nlobayes.artifacts.places import project

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
        self._bar, self._account, self._task = bar, account, bar.add_task("", visible=False)

    def expect(self, stages: int) -> None:
        """Set the number of stages."""
        self._bar.update(self._task, total=stages, visible=True)

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
    """Make a bar in a terminal, or a notebook with ipywidgets, if it is to be shown.

    `account` describes the progress of chains in workers, whose output the bar does not get.
    """
    console = Console(file=sys.stderr)
    in_notebook = console.is_jupyter and find_spec("ipywidgets") is not None
    seen = shown and (console.is_terminal or in_notebook)
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

    calls = (delayed(_in_worker)(call, argument) for argument in arguments)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "A worker stopped while some jobs", UserWarning)
        for result in Parallel(workers, return_as="generator_unordered")(calls):
            done(result)


def _in_worker(call: Callable[..., Any], argument: Any) -> Any:
    """Call a function in a worker that may grow by `GROWTH`."""
    from joblib.externals.loky import process_executor

    process_executor._MAX_MEMORY_LEAK_SIZE = GROWTH
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


CACHE = Path.home() / ".cache/nlobayes/jax"
"""Compiled functions, outside of a workflow."""


@contextmanager
def as_a_job(precision: str) -> Iterator[None]:
    """Set up JAX and PyTensor as the command of a job does, and restore the settings afterwards."""
    before = dict(os.environ)
    cache = Path(os.environ.get("JAX_COMPILATION_CACHE_DIR", CACHE))
    with ExitStack() as settings:
        settings.callback(_restore, before)
        with _no_advice_on_compilers():
            settings.enter_context(_computing_in(precision, cache))
        runtime.configure(precision)
        settings.enter_context(_one_thread_in_blas())
        yield


@contextmanager
def _computing_in(precision: str, cache: Path) -> Iterator[None]:
    """Change settings of JAX and PyTensor, which may have been imported, and restore them."""
    import jax
    import pytensor

    settings = {
        "jax_enable_x64": precision == "float64",
        "jax_default_matmul_precision": "highest",
        "jax_compilation_cache_dir": str(cache),
        "jax_persistent_cache_min_compile_time_secs": 0.0,
        "jax_persistent_cache_enable_xla_caches": "none",
    }
    before = {name: getattr(jax.config, name) for name in (*settings, "jax_default_device")}
    no_compiler = {"floatX": precision, "cxx": "", "traceback__limit": 0}
    _update_jax(settings)
    try:
        with pytensor.config.change_flags(**no_compiler):
            yield
    finally:
        _update_jax(before)


def _update_jax(settings: Mapping[str, Any]) -> None:
    import jax
    from jax.experimental.compilation_cache import compilation_cache

    folder = "jax_compilation_cache_dir"
    moved = getattr(jax.config, folder) != settings[folder]
    for name, value in settings.items():
        jax.config.update(name, value)
    if moved:
        compilation_cache.reset_cache()  # it requests its folder only once


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
