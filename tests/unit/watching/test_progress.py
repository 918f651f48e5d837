"""Pieces of a long run: they are equal, in order and complete."""

from __future__ import annotations

import math
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlobayes.watching.progress import pieces, rows_passing


@given(total=st.integers(1, 5000), unit=st.integers(1, 9), at_most=st.integers(1, 40))
def test_pieces_are_equal_and_complete(total: int, unit: int, at_most: int) -> None:
    """Equal sizes compile once; the draws of the pieces are those of the whole."""
    cut = [*pieces(total, unit, "draws", at_most)]
    sizes = {size for _, size in cut}
    assert len(sizes) == 1
    assert len(cut) <= at_most
    drawn = [number for first, size in cut for number in range(first, first + size)]
    assert drawn == [*range(total)]


@pytest.mark.parametrize("share", [0.5, math.nan])
@pytest.mark.parametrize("terminal", [True, False])
@pytest.mark.parametrize("shown", [True, False])
def test_rows_are_counted_where_somebody_watches(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    terminal: bool,
    shown: bool,
    share: float,
) -> None:
    """A notebook sets FORCE_COLOR for its subprocesses, and is no terminal."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal)
    with rows_passing(shown=shown) as passed:
        passed(8192, share)
    printed = capsys.readouterr()
    assert printed.out == ""
    assert ("8192 rows" in printed.err) == (terminal and shown)
    assert bool(printed.err) == (terminal and shown)


def test_lines_of_a_notebook_are_those_of_a_log(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("rich.console._is_jupyter", lambda: True)
    assert len([*pieces(4, 1, "draws", 2)]) == 2
    assert capsys.readouterr().err == "draws: 2 of 4\ndraws: 4 of 4\n"
