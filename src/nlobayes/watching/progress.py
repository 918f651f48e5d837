"""Progress of long commands: a bar in a terminal, plain lines in a log."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn, track

LINES = 10
LOGGED = 1000
Item = TypeVar("Item")


def pieces(total: int, unit: int, description: str, at_most: int = 20) -> Iterator[tuple[int, int]]:
    """Cut `total` units into equal pieces, and show the progress over them.

    Yields the first unit and the number of units of each piece. `unit` scales the displayed
    numbers.
    """
    count = next(n for n in range(min(at_most, total), 0, -1) if total % n == 0)
    size = total // count
    console = _console()
    starts = range(0, total, size)
    if _is_live(console):
        yield from ((first, size) for first in track(starts, description, console=console))
        return
    for first in starts:
        yield first, size
        done = first + size
        if done * LINES // total > first * LINES // total:
            console.print(f"{description}: {done * unit} of {total * unit}")


def passing(items: Iterable[Item], total: int, description: str) -> Iterator[Item]:
    """Yield items and show the progress; in a log only if `total` is `LOGGED` or more."""
    console = _console()
    if _is_live(console):
        yield from track(items, description, total=total, console=console)
        return
    for done, item in enumerate(items, start=1):
        yield item
        if total >= LOGGED and done * LINES // total > (done - 1) * LINES // total:
            console.print(f"{description}: {done} of {total}")


@contextmanager
def rows_passing(*, shown: bool) -> Iterator[Callable[[int, float], None]]:
    """Show the number of predicted rows, and their share if it is known (not NaN).

    Yields a function to call with both. Nothing is shown if standard error is no terminal.
    """
    console = _console()
    columns = TextColumn("predict"), BarColumn(), TextColumn("{task.fields[rows]} rows")
    hidden = not (shown and _is_live(console))
    with Progress(*columns, TimeRemainingColumn(), console=console, disable=hidden) as bar:
        task = bar.add_task("", total=None, rows=0)

        def passed(rows: int, share: float) -> None:
            known = None if math.isnan(share) else 1.0
            bar.update(task, completed=share if known else rows, total=known, rows=rows)

        yield passed


def _console() -> Console:
    """Write to standard error in a notebook, too, whose cells get lines as those of a log."""
    return Console(file=sys.stderr, force_jupyter=False)


def _is_live(console: Console) -> bool:
    """Whether a bar can move. Jupyter sets FORCE_COLOR for its subprocesses, without a terminal."""
    return console.is_terminal and console.file.isatty()
