"""Numbers of others that pages quote are those of `published.csv`, with their sources.

Pages and the files of their tables quote in tables whose corner is `published`, with the source in
the last column, and in columns and rows that begin with `published (source)`. A number agrees when
it is that of the file, rounded to the digits that are quoted. The page of published systems has a
state of every row. Tables that are rendered are those of their files (`test_result_tables.py`).
"""

import csv
import re
from collections.abc import Iterator
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import NamedTuple

from benchmarks.tables import TABLE

ROOT = Path(__file__).parents[2]
PUBLISHED = ROOT / "docs/published.md"
PAGES = [*sorted(ROOT.glob("docs/studies/*.md")), PUBLISHED]
WRITTEN = [TABLE.sub("", path.read_text()) for path in PAGES]
"""The pages without the tables that are rendered."""
FILES = sorted((ROOT / "docs/results/tables").glob("*.csv"))
STUDIES = {path.stem for path in ROOT.glob("config/studies/*.yaml")} | {"thesis", "physics"}
SYSTEMS = {"A": 55, "M": 22, "T": 23, "B": 26, "S": 5, "D": 14}
"""The letters of the ids of the page of published systems, and their numbers of rows."""
STATES = ("works", "partly", "absent")
LABEL = re.compile(r"published \((?P<source>[^)]+)\)(?:, (?P<of>.+))?")
NUMBER = re.compile(r"(?<![\w.])[-−]?\d[\d ]*(?:\.\d+)?(?![\w.]*\d)")


class Quoted(NamedTuple):
    """A number or several as the page has them, and the labels and the source beside them."""

    study: str
    labels: frozenset[str]
    source: str
    text: str


@cache
def published() -> list[dict[str, str]]:
    """Read the numbers of others: study, quantity, setting, value and source."""
    with (ROOT / "tests/reference/published.csv").open() as file:
        return [*csv.DictReader(file)]


def sections(page: str) -> Iterator[tuple[str, str]]:
    """Give the text of each section, with the first study that it names; before them, `thesis`."""
    first, *others = re.split(r"^## .*$", page, flags=re.MULTILINE)
    yield "thesis", first
    for text in others:
        named = re.search(r"\b[Ss]tudy `(\w+)`", text)
        yield (named[1] if named else ""), text


def tables(text: str) -> Iterator[list[list[str]]]:
    """Give each table of a text as its rows of cells, without the line below the head."""
    for block in re.findall(r"(?:^\|.*\n?)+", text, re.MULTILINE):
        rows = [_cells(line) for line in block.splitlines()]
        yield [rows[0], *rows[2:]]


def _cells(line: str) -> list[str]:
    return [cell.strip(" *") for cell in line.strip()[1:-1].split("|")]


@cache
def quoted() -> list[Quoted]:
    """List what files and the tables that are written by hand quote."""
    in_pages = [each for page in WRITTEN for each in quoted_by(page)]
    return in_pages + [each for path in FILES for each in _of(study_of(path), read(path))]


def quoted_by(page: str) -> list[Quoted]:
    """List what the tables of a page quote."""
    return [
        each
        for study, text in sections(page)
        for table in tables(text)
        for each in _of(study, table)
    ]


def study_of(path: Path) -> str:
    """Return the study with which the name of a file begins, the longest of several."""
    return max((name for name in STUDIES if path.stem.startswith(name)), key=len, default="")


def read(path: Path) -> list[list[str]]:
    """Read the cells of a file, its head first."""
    with path.open(newline="") as file:
        return [*csv.reader(file)]


def _of(study: str, table: list[list[str]]) -> Iterator[Quoted]:
    head, *rows = table
    for row in rows:
        for column, cell in zip(head[1:], row[1:], strict=False):
            if head[0] == "published" and column != "source":
                yield Quoted(study, frozenset({row[0], column}), row[-1], cell)
            elif match := LABEL.fullmatch(column):
                yield Quoted(study, frozenset({row[0], match["of"] or ""}), match["source"], cell)
            elif match := LABEL.fullmatch(row[0]):
                yield Quoted(study, frozenset({match["of"] or "", column}), match["source"], cell)


def numbers(text: str) -> list[Decimal]:
    """List the numbers of a text, with their digits."""
    return [Decimal(found.replace("−", "-").replace(" ", "")) for found in NUMBER.findall(text)]


def agrees(said: Decimal, value: Decimal) -> bool:
    """Whether a number is another one, rounded to its own digits."""
    return abs(said - value) <= Decimal(5).scaleb(said.as_tuple().exponent - 1)  # type: ignore[operator]


def fault(each: Quoted) -> str | None:
    """Say what is wrong with a quoted number."""
    said = numbers(each.text)
    found = [
        row
        for row in published()
        if each.study == row["study"]
        and each.source == row["source"]
        and each.labels == {row["quantity"], row["setting"]}
    ]
    if not said:
        return None
    if len(found) != 1:
        return f"{each}: tests/reference/published.csv has {len(found)} rows of it, not one"
    values = numbers(found[0]["value"])
    same = len(said) == len(values) and all(map(agrees, said, values))
    return None if same else f"{each}: tests/reference/published.csv has {found[0]['value']}"


def test_the_numbers_of_tables_are_those_published() -> None:
    assert len(quoted()) > 200
    assert [said for each in quoted() if (said := fault(each))] == []


def test_a_changed_number_is_found() -> None:
    """In every cell the last digit of its first number."""
    found = [each for each in quoted() if numbers(each.text)]
    assert [each for each in found if fault(changed(each)) is None] == []


def changed(each: Quoted) -> Quoted:
    """Change the last digit of the first number of a cell by two."""
    match = NUMBER.search(each.text)
    assert match is not None
    end = match.start() + len(match[0].rstrip())
    other = str((int(each.text[end - 1]) + 2) % 10)
    return each._replace(text=each.text[: end - 1] + other + each.text[end:])


def test_every_row_has_a_study_and_a_source() -> None:
    assert {row["study"] for row in published()} <= STUDIES
    assert [row for row in published() if not row["source"] or not numbers(row["value"])] == []
    keys = [(row["study"], row["quantity"], row["setting"], row["source"]) for row in published()]
    assert len({*keys}) == len(keys)


def listed() -> dict[str, list[str]]:
    """Give the cells of each row of the page of published systems by its id."""
    found = [row for table in tables(PUBLISHED.read_text()) for row in table if table[0][0] == "id"]
    rows = [row for row in found if row[0] != "id"]
    assert len({row[0] for row in rows}) == len(rows)
    return {row[0]: row for row in rows}


def test_every_published_feature_has_a_row_with_a_state() -> None:
    """A row that does not work says what is missing, or why."""
    rows = listed()
    ids = {f"{system}{number + 1}" for system, count in SYSTEMS.items() for number in range(count)}
    assert rows.keys() == ids
    assert {len(row) for row in rows.values()} == {5}
    assert {row[3] for row in rows.values()} == {*STATES}
    assert [row for row in rows.values() if row[3] != "works" and not row[4]] == []
