"""Display of running jobs: a few lines that are replaced on a terminal, else line after line."""

from __future__ import annotations

import shutil
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TextIO

MOST_RUNS, MOST_JOBS = 8, 4
BEGIN_AFTER = 30.0
"""Seconds before the progress of chains is shown; shorter runs do not need it."""
IDLE = ("not begun", "done")
UP_AND_CLEAR = "\x1b[{lines}F\x1b[J"


class Terminal:
    """A stream whose last lines are replaced; without a terminal there are no such lines."""

    def __init__(self, stream: TextIO) -> None:
        self._stream, self._lock = stream, threading.RLock()
        self._lines: list[str] = []
        self._unended = ""
        self.is_live = stream.isatty()

    def write(self, text: str) -> int:
        """Write complete lines above the replaced ones; an incomplete line waits for its end."""
        with self._lock:
            whole, newline, self._unended = (self._unended + text).rpartition("\n")
            if newline:
                self._put(whole + newline, self._lines)
        return len(text)

    def flush(self) -> None:
        """Flush the stream."""
        self._stream.flush()

    def isatty(self) -> bool:
        """Return whether the stream is a terminal."""
        return self.is_live

    def show(self, lines: Sequence[str]) -> None:
        """Replace the last lines, cut to the width; do nothing without a terminal."""
        if self.is_live:
            width = shutil.get_terminal_size().columns - 1
            with self._lock:
                self._put("", [line[:width] for line in lines])

    def _put(self, text: str, lines: list[str]) -> None:
        clear = UP_AND_CLEAR.format(lines=len(self._lines)) if self._lines else ""
        self._stream.write(clear + text + "".join(f"{line}\n" for line in lines))
        self._stream.flush()
        self._lines = lines


class Progress:
    """Display of finished and running jobs and of the progress of runs."""

    def __init__(self, terminal: Terminal) -> None:
        self.terminal, self._began, self._ended = terminal, time.monotonic(), threading.Event()
        self.done, self.jobs = 0, 0
        self._at_work: dict[int, str] = {}
        self._runs: dict[str, str] = {}
        if terminal.is_live:
            threading.Thread(target=self._tick, daemon=True).start()

    def started(self, number: int, job: str) -> None:
        """Report the start of a job."""
        self._at_work[number] = job
        self._show_line(f"{self._counted()}  {job}")

    def ended(self, number: int) -> None:
        """Report the end of a job, with or without success."""
        self._at_work.pop(number, None)
        self.show()

    def report(self, line: str) -> None:
        """Read a line of `nlobayes watch`: the label of a run, a colon, and its progress."""
        label, _, state = line.strip().partition(": ")
        self._runs[label] = state
        if not state.startswith(IDLE):
            self._show_line(f"{self._counted()}  {label}: {state}")

    def show(self) -> None:
        """Show the current state."""
        if self._ended.is_set() or not self.jobs:
            return
        jobs = [*self._at_work.values()]
        at_work = [f"at work: {'; '.join(jobs[:MOST_JOBS])}{_further(jobs, MOST_JOBS)}"]
        known = self._runs.items()
        runs = [f"{label}: {state}" for label, state in known if not state.startswith(IDLE)]
        others = [f"{len(runs) - MOST_RUNS} further runs"] if len(runs) > MOST_RUNS else []
        lines = [f"{self._counted()} jobs", *(at_work if jobs else []), *runs[:MOST_RUNS], *others]
        self.terminal.show(lines)

    def end(self) -> None:
        """Remove the replaced lines and show no more."""
        self._ended.set()
        self.terminal.show([])

    def _show_line(self, line: str) -> None:
        if self.terminal.is_live:
            self.show()
        else:
            self.terminal.write(f"{line}\n")

    def _counted(self) -> str:
        minutes, seconds = divmod(int(time.monotonic() - self._began), 60)
        return f"{minutes:3}:{seconds:02}  {self.done:{len(str(self.jobs))}} of {self.jobs}"

    def _tick(self) -> None:
        while not self._ended.wait(1.0):
            self.show()


class Watcher:
    """A process beside the scheduler that reads the progress of runs and prints changes."""

    def __init__(
        self, command: Sequence[str], spec: str, report: Callable[[str], None], after: float
    ) -> None:
        self._command, self._spec, self._report = lowest_priority(command), spec, report
        self._after, self._stopped = after, threading.Event()
        self._process: subprocess.Popen[str] | None = None
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End the process, if it has started."""
        self._stopped.set()
        if self._process is not None:
            self._process.terminate()
        self._thread.join(timeout=5)

    def _watch(self) -> None:
        if self._stopped.wait(self._after):
            return
        pipe, nowhere = subprocess.PIPE, subprocess.DEVNULL
        with subprocess.Popen(
            self._command, stdin=pipe, stdout=pipe, stderr=nowhere, text=True
        ) as self._process:
            assert self._process.stdin is not None
            assert self._process.stdout is not None
            self._process.stdin.write(self._spec)
            self._process.stdin.close()
            for line in self._process.stdout:
                if not self._stopped.is_set():
                    self._report(line)


def lowest_priority(command: Sequence[str]) -> list[str]:
    """Return a command that runs at lowest priority, if this machine has `nice`."""
    nice = shutil.which("nice")
    return [nice, "-n", "19", *command] if nice else [*command]


def labelled(labels: Mapping[str, str], runs: set[str]) -> dict[str, str]:
    """Keep the labels of the requested runs, in their order."""
    return {path: label for path, label in labels.items() if path in runs}


def _further(items: Sequence[str], shown: int) -> str:
    return f"; and {len(items) - shown} more" if len(items) > shown else ""
