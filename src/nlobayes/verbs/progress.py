"""Progress of long verbs: a bar in a terminal, plain lines in a log."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from rich.console import Console
from rich.progress import track

LINES = 10


def pieces(total: int, unit: int, description: str, at_most: int = 20) -> Iterator[tuple[int, int]]:
    """Cut `total` units into equal pieces and show them passing.

    Yields
    ------
    Number of the first unit and count of units of each piece; `unit` scales what is shown.
    """
    count = next(n for n in range(min(at_most, total), 0, -1) if total % n == 0)
    size = total // count
    console = Console(file=sys.stderr)
    starts = range(0, total, size)
    if console.is_terminal:
        yield from ((first, size) for first in track(starts, description, console=console))
        return
    for first in starts:
        yield first, size
        done = first + size
        if done * LINES // total > first * LINES // total:
            console.print(f"{description}: {done * unit} of {total * unit}")
