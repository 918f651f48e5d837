"""The graph of the stages: it has every stage and every path, and is up to date."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from benchmarks import rooms
from nlobayes.stages import PIPELINE, inputs_of
from nlobayes.workflow.stage_graph import as_svg, edges

ROOT = Path(__file__).parents[3]


def reached(start: str, lines: Iterable[tuple[str, str]]) -> set[str]:
    """Follow the arrows."""
    found, todo = set[str](), [start]
    while todo:
        here = todo.pop()
        todo += [b for a, b in lines if a == here and b not in found]
        found |= {b for a, b in lines if a == here}
    return found


def test_the_picture_is_that_of_the_stages() -> None:
    """Otherwise run `make schema`."""
    assert (ROOT / "workflow/stages.svg").read_text() == as_svg()


def test_a_stage_is_reached_from_all_that_it_reads() -> None:
    """An arrow that is left out is a path over other stages."""
    order = [*PIPELINE]
    for reader in PIPELINE:
        for writer in order[: order.index(reader)]:
            if {*PIPELINE[writer].outputs} & {*inputs_of(reader)}:
                assert reader in reached(writer, edges()), (writer, reader)


def test_the_picture_of_rooms_is_that_of_their_imports() -> None:
    """Otherwise run `make schema`."""
    assert (ROOT / "docs/rooms.svg").read_text() == rooms.as_svg()


def test_a_room_imports_those_of_its_files_but_none_for_types_alone() -> None:
    assert {"inference", "kernels"} <= rooms.imports_of("methods")
    assert rooms.imports_of("physics") == set()
