"""A table of plain texts for the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich import box
from rich.table import Table


def plain_table(title: str, header: Sequence[str], rows: Sequence[Sequence[str]]) -> Table | None:
    """Make a table of a header and rows of cells; None without rows."""
    if not rows:
        return None
    table = Table(
        box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, title=title, title_justify="left"
    )
    for name in header:
        table.add_column(name, overflow="fold")
    for row in rows:
        table.add_row(*row)
    return table
