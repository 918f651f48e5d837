"""Render the tables of pages from CSV files below `docs/results`.

    python -m benchmarks.tables

A table of a page stands between `<!-- table ... -->` and `<!-- end -->`. The first comment names
the file without its ending, then the columns, with `|` between them:

    <!-- table tables/rivals | regressor | error: {p50} / {p95} % | where table = a or b -->

A column of the file has its own name as title, or `title: text` with names of columns in braces.
A number may have a format: `{lppd:.2f}`. A cell whose columns are all empty is empty. `where`
keeps the rows that have one of the values, or with `!=` none of them; several are possible. A name
with `*` stands for all files that match, one after another; column `file` has the name of each.
Below each table is a link to its file, which has all rows and columns.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from os.path import relpath
from pathlib import Path

RESULTS = Path("docs/results")
PAGES = "docs/**/*.md"
TABLE = re.compile(r"(<!-- table ([^>]*?) -->\n).*?(<!-- end -->)", re.DOTALL)
FIELD = re.compile(r"\{([^{}]+)\}")
CONDITION = re.compile(r"where (.+?) (=|!=) (.+)")

Row = dict[str, str]


def read_rows(path: Path) -> list[Row]:
    """Read the rows of a CSV file."""
    with path.open(encoding="utf-8", newline="") as file:
        return [*csv.DictReader(file)]


def render(text: str, folder: Path, results: Path = RESULTS) -> str:
    """Return a page of a folder with its tables as the files of `results` have them."""

    def table(found: re.Match[str]) -> str:
        path, *parts = (part.strip() for part in found[2].split("|"))
        files = sorted(results.glob(f"{path}.csv"))
        conditions = [each for part in parts if (each := CONDITION.fullmatch(part))]
        every = [{"file": file.stem, **row} for file in files for row in read_rows(file)]
        rows = [row for row in every if all(holds(each, row) for each in conditions)]
        lines = _lines(rows, [part for part in parts if not CONDITION.fullmatch(part)])
        links = ", ".join(f"[{file.name}]({relpath(file, folder)})" for file in files)
        return "\n".join([found[1], *lines, "", links, "", found[3]])

    return TABLE.sub(table, text)


def holds(condition: re.Match[str], row: Row) -> bool:
    """Whether a row has what a condition of a table requires."""
    name, sign, values = condition.groups()
    return (row[name] in values.split(" or ")) == (sign == "=")


def _lines(rows: Sequence[Row], columns: Sequence[str]) -> Iterator[str]:
    split = [_title_and_text(column) for column in columns]
    yield _line(title for title, _ in split)
    yield f"|{'---|' * len(split)}"
    for row in rows:
        yield _line(cell_of(text, row) for _, text in split)


def _title_and_text(column: str) -> tuple[str, str]:
    title, there, text = column.partition(": ")
    return (title, text) if there and FIELD.search(text) else (column, f"{{{column}}}")


def _line(cells: Iterator[str]) -> str:
    return f"|{' |'.join(cells)}|"


def cell_of(text: str, row: Row) -> str:
    """Return a text with the cells of a row in place of the names of columns in braces."""
    values = [_value(name, row) for name in FIELD.findall(text)]
    return FIELD.sub(lambda _: values.pop(0), text) if any(values) else ""


def _value(name: str, row: Row) -> str:
    """Return a cell, as a number of a format if the name ends in one."""
    column, _, form = name.rpartition(":")
    if name in row or column not in row:
        return row[name]
    return row[column] and format(float(row[column]), form)


if __name__ == "__main__":
    for page in sorted(Path().glob(PAGES)):
        before = page.read_text(encoding="utf-8")
        after = render(before, page.parent)
        if after != before:
            page.write_text(after, encoding="utf-8")
            print(page)
