"""Tables of numbers in pages are those of the CSV files that they name."""

import re
from pathlib import Path

import pytest

from benchmarks.tables import PAGES, RESULTS, TABLE, read_rows, render
from tests.documented import ROOT

FILES = sorted((ROOT / RESULTS).rglob("*.csv"))
WITH_TABLES = [page for page in sorted(ROOT.glob(PAGES)) if TABLE.search(page.read_text())]
CSV = "run,error,log score,of\na,0.0123,,x\nb,2.5,1.25,y\nc,3,,x, y\n".replace("x, y", '"x"')


def test_pages_show_the_numbers_of_their_files() -> None:
    """`python -m benchmarks.tables` writes them."""
    assert len(WITH_TABLES) > 10
    stale = [
        page.name
        for page in WITH_TABLES
        if render(page.read_text(), page.parent, ROOT / RESULTS) != page.read_text()
    ]
    assert stale == []


def test_every_file_is_whole_and_named_by_a_page() -> None:
    """No row is longer or shorter than its head, and a page shows or links each file."""
    pages = "".join(page.read_text() for page in ROOT.glob(PAGES))
    assert [path.name for path in FILES if f"/{path.name})" not in pages] == []
    odd = [
        path.name
        for path in FILES
        if any(None in row or None in row.values() for row in read_rows(path))
    ]
    assert odd == []


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ("run | error", [["run", "error"], ["a", "0.0123"], ["b", "2.5"], ["c", "3"]]),
        ("of | where run = a or c", [["of"], ["x"], ["x"]]),
        (
            "both: {error:.1f} / {log score} | where of = y",
            [["both"], ["2.5 / 1.25"]],
        ),
        ("s: ({log score}) | where of = x", [["s"], [""], [""]]),
    ],
)
def test_a_table_has_the_columns_and_rows_asked_for(
    asked: str, expected: list[list[str]], tmp_path: Path
) -> None:
    (tmp_path / "numbers.csv").write_text(CSV)
    page = f"before\n<!-- table numbers | {asked} -->\nold\n<!-- end -->\nafter\n"
    made = render(page, tmp_path, tmp_path)
    lines = [line for line in made.splitlines() if line.startswith("|") and "---" not in line]
    assert [re.split(r" ?\| ?", line)[1:-1] for line in lines] == expected
    assert made.startswith("before\n")
    assert made.endswith("\n\n[numbers.csv](numbers.csv)\n\n<!-- end -->\nafter\n")
    assert "old" not in made
    assert render(made, tmp_path, tmp_path) == made


def test_a_table_of_several_files_names_each(tmp_path: Path) -> None:
    for name, error in (("b", 2), ("a", 1)):
        (tmp_path / f"{name}.csv").write_text(f"error\n{error}\n")
    made = render("<!-- table * | file | error -->\n<!-- end -->\n", tmp_path, tmp_path)
    assert made.splitlines()[4:8] == ["|a |1|", "|b |2|", "", "[a.csv](a.csv), [b.csv](b.csv)"]
