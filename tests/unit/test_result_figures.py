"""Figures of pages of results show the numbers of their files, and every page has one."""

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from benchmarks.result_figures import (
    PICTURES,
    Drawn,
    Point,
    Series,
    described,
    draw,
    figures,
    numbers_of,
    rows_of,
    shown,
)
from benchmarks.tables import RESULTS
from tests.documented import ROOT

FIGURES = figures()
FOLDERS = ("docs/results", "docs/studies")
PAGES = [path for folder in FOLDERS for path in sorted((ROOT / folder).glob("*.md"))]
PAGES += [ROOT / f"docs/{name}.md" for name in ("published", "rivals", "performance", "studies")]
WITHOUT = {"runs"}
"""Pages that explain how results are stored."""

PICTURE = re.compile(
    r"^(?:!\[.{20,}\]\(|<img src=\")([^)\"]+\.(?:svg|png|webp)).*\n\n(.*)", re.MULTILINE
)
"""The file of a picture, and the paragraph below it."""

DESCRIPTION = "{http://purl.org/dc/elements/1.1/}description"
CASE = Drawn(
    table="numbers",
    rows="{run}",
    value="error [%]",
    series=[
        Series(label="all", cell="{error, median / 95 %}", to=1),
        Series(label="late", cell="{error, median / 95 %}", number=1, where=["run != a"]),
        Series(label="score", cell="{score}", error=1),
        Series(label="found", where=["found = yes"]),
    ],
    where=["of = x"],
)
CSV = """run,of,"error, median / 95 %",score,found
a,x,0.22 / 1.5 %,−2.083 ± 0.032,yes
b,x,0.5 / 16 320 %,,no
c,y,1 / 2 %,3 ± 1,yes
"""


@pytest.mark.parametrize("name", FIGURES)
def test_a_picture_shows_the_present_numbers(name: str) -> None:
    """`python -m benchmarks.result_figures` writes it."""
    drawn = FIGURES[name]
    rows = rows_of(drawn, ROOT / RESULTS)
    written = ElementTree.parse(ROOT / PICTURES / f"{name}.svg").find(f".//{DESCRIPTION}")
    assert written is not None
    assert written.text == described(drawn, rows)
    assert all(shown(drawn, rows).values()), "every series has a number"
    lines = len(drawn.series) + len(drawn.lines) + drawn.scatter
    (axes,) = draw(drawn, rows).axes
    assert len(axes.get_legend_handles_labels()[0]) == lines


def test_every_page_of_results_has_pictures_and_says_what_is_good() -> None:
    for path in PAGES:
        found = PICTURE.findall(path.read_text())
        assert found or path.stem in WITHOUT, path.name
        assert [name for name, _ in found if not (path.parent / name).is_file()] == []
        silent = [name for name, text in found if not re.search("Good (looks|would look) ", text)]
        assert silent == [], path.name


def test_every_picture_is_on_a_page() -> None:
    drawn = {path.stem for path in (ROOT / PICTURES).iterdir()}
    text = "".join(path.read_text() for path in PAGES)
    assert drawn == {*FIGURES} == {name for name in FIGURES if f"results/{name}.svg)" in text}


def test_numbers_are_those_of_the_cells_that_are_named(tmp_path: Path) -> None:
    (tmp_path / "numbers.csv").write_text(CSV)
    found = shown(CASE, rows_of(CASE, tmp_path))
    assert found["all"] == [Point("a", 0.22, 0.22, 1.5), Point("b", 0.5, 0.5, 16320)]
    assert found["late"] == [Point("b", 16320, 16320, 16320)]
    (score,) = found["score"]
    assert score == pytest.approx(("a", -2.083, -2.115, -2.051))
    assert found["found"] == [Point("a", 1, 1, 1)]


def test_numbers_in_words_and_units_are_found() -> None:
    assert numbers_of("63.8 to 69.5, ± 1.7") == [63.8, 69.5, 1.7]
    assert numbers_of("9.907(4), R-hat f of n32, 1e-3 and 10 000") == [9.907, 1e-3, 10000]
