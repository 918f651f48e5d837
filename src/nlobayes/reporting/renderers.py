"""Tables for the terminal, in reStructuredText and in Markdown."""

from __future__ import annotations

import os
from collections.abc import Callable

from rich import box
from rich.console import Console
from rich.table import Table as Drawn
from rich.text import Text

from nlobayes.reporting.columns import RED, Cell, Table

BETWEEN = 2
"""Blanks between two columns of a terminal."""
WIDE = 160
"""Width where no terminal gives one."""
SHORT = 30
"""Most characters of a column, but the first, that is not folded."""


def wide_console() -> Console:
    """Return the terminal; output that is kept in a file is `WIDE`, or as wide as `COLUMNS`."""
    known = Console().is_terminal or "COLUMNS" in os.environ
    return Console(width=None if known else WIDE, highlight=False)


def in_terminal(table: Table, width: int) -> Drawn:
    """Draw a table; where it is too wide, less important columns are left out first."""
    lengths = _lengths(table)
    kept = _fit(table, lengths, width)
    drawn = Drawn(
        title=table.title or None,
        title_justify="left",
        box=box.SIMPLE_HEAD,
        show_edge=False,
        pad_edge=False,
        padding=(0, BETWEEN - 1, 0, 0),
    )
    for place in kept:
        no_wrap = place > 0 and lengths[place] <= SHORT
        drawn.add_column(table.columns[place].title, overflow="fold", no_wrap=no_wrap)
    for row in table.cells:
        drawn.add_row(*(Text.assemble(row[place]) for place in kept))
    return drawn


def in_box(table: Table) -> Drawn:
    """Draw a table with lines between its columns, and its note below."""
    drawn = Drawn(title=table.title, caption=table.note or None)
    for column in table.columns:
        drawn.add_column(column.title, overflow="fold")
    for row in table.cells:
        drawn.add_row(*map(Text.assemble, row))
    return drawn


def in_rst(table: Table) -> str:
    """Write a title, a table and a note in reStructuredText."""
    lines = [".. list-table::", "   :header-rows: 1", ""]
    for first, *others in _rows(table, escaped):
        lines += [f"   * - {first}", *(f"     - {cell}" for cell in others)]
    title = f"{table.title}:" if table.title else ""
    return "\n\n".join(filter(None, [title, "\n".join(lines), escaped(table.note)]))


def in_markdown(table: Table) -> str:
    """Write a table in Markdown, without its title."""
    head, *rows = _rows(table, str)
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def escaped(text: str) -> str:
    """Escape characters that reStructuredText reads as markup."""
    return "".join(f"\\{sign}" if sign in "\\*`_|" else sign for sign in text)


def _rows(table: Table, write: Callable[[str], str]) -> list[list[str]]:
    """Write header and cells; what is red is bold."""

    def text(cell: Cell) -> str:
        bold = isinstance(cell, Text) and cell.style == RED
        return f"**{write(str(cell))}**" if bold else write(str(cell))

    head: list[Cell] = [column.title for column in table.columns]
    return [[text(cell) for cell in row] for row in [head, *table.cells]]


def _lengths(table: Table) -> dict[int, int]:
    """Return the longest text of each column."""
    cells = [[column.title for column in table.columns], *table.cells]
    return {place: max(map(len, column)) for place, column in enumerate(zip(*cells, strict=True))}


def _fit(table: Table, lengths: dict[int, int], width: int) -> list[int]:
    """Choose the columns that fit the width; columns of rank 0 are kept even if they do not fit."""
    wide = {n: (min(length, SHORT) if n else length) + BETWEEN for n, length in lengths.items()}
    kept = [*wide]
    while sum(wide[place] for place in kept) - BETWEEN > width:
        least = max(kept, key=lambda place: table.columns[place].rank)
        if table.columns[least].rank == 0:
            break
        kept.remove(least)
    return kept
