"""The graph of workflow/stages.svg; `python -m nlobayes.workflow.stage_graph` prints it."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import cache

from nlobayes.stages import PIPELINE, inputs_of

IN_ORDER = sorted(PIPELINE, key="plot".__eq__)
"""The stages in the order in which they run; `plot` is last, as figures need all others."""
WIDTH, HEIGHT = 150, 26
"""Size of a box."""
ACROSS, DOWN = 190, 42
"""Distances between boxes."""
HEAD = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {} {}" font-family="sans-serif" '
    'font-size="12">\n<title>{}</title>\n'
    '<rect width="100%" height="100%" fill="white"/>\n'
)
ARROW = '<path d="M{} {}C{} {} {} {} {} {}" fill="none" stroke="#0072b2"/>\n'
BOX = (
    f'<rect x="{{}}" y="{{}}" width="{WIDTH}" height="{HEIGHT}" rx="4" fill="#eef3f8" '
    'stroke="#333"/>\n<text x="{}" y="{}" text-anchor="middle">{}</text>\n'
)


def edges() -> set[tuple[str, str]]:
    """Return pairs of a stage and a reader of its output, if there is no path over other stages.

    Segments that read the previous segment of the same stage are left out.
    """
    return without_shortcuts(
        {(a, b) for n, b in enumerate(IN_ORDER) for a in IN_ORDER[:n] if _reads(b, a)}
    )


def without_shortcuts(direct: set[tuple[str, str]]) -> set[tuple[str, str]]:
    """Leave out arrows between two names that a path over others joins."""

    @cache
    def before(name: str) -> frozenset[str]:
        own = {a for a, b in direct if b == name}
        return frozenset(own.union(*(before(each) for each in own)))

    return {(a, b) for a, b in direct if not any(a in before(c) for c, d in direct if d == b)}


def as_svg() -> str:
    """Draw a box for every stage, from left to right, and arrows to its readers."""
    return draw("Which stage of nlobayes reads what another writes", IN_ORDER, edges())


def draw(title: str, names: Sequence[str], lines: set[tuple[str, str]]) -> str:
    """Draw a box for every name, right of those with an arrow to it, which come before it."""
    places = _places(names, lines)
    width, height = (max(place[n] for place in places.values()) for n in (0, 1))
    arrows = sorted(_arrow(places[a], places[b]) for a, b in lines)
    boxes = (
        BOX.format(x, y, x + WIDTH // 2, y + HEIGHT // 2 + 4, name)
        for name, (x, y) in places.items()
    )
    head = HEAD.format(width + ACROSS - 20, height + DOWN, title)
    return "".join([head, *arrows, *boxes, "</svg>\n"])


def _reads(reader: str, writer: str) -> bool:
    """Return whether a stage reads an output of another; `plot` reads any table of a folder."""
    outputs, inputs = PIPELINE[writer].outputs, inputs_of(reader)
    endings = tuple(given.removeprefix("{folder}") for given in inputs if "{folder}/" in given)
    return any(output in inputs or output.endswith(endings) for output in outputs)


def _places(names: Sequence[str], lines: set[tuple[str, str]]) -> dict[str, tuple[int, int]]:
    """Place each box to the right of all with an arrow to it, below others of its column."""
    columns: dict[int, list[str]] = {}
    column: dict[str, int] = {}
    for name in names:
        column[name] = 1 + max((column[a] for a, b in lines if b == name), default=-1)
        columns.setdefault(column[name], []).append(name)
    return {
        name: (20 + ACROSS * number, 20 + DOWN * row)
        for number, alike in columns.items()
        for row, name in enumerate(alike)
    }


def _arrow(start: tuple[int, int], end: tuple[int, int]) -> str:
    x, y, to_x, to_y = start[0] + WIDTH, start[1] + HEIGHT // 2, end[0], end[1] + HEIGHT // 2
    bend = (ACROSS - WIDTH) // 2
    return ARROW.format(x, y, x + bend, y, to_x - bend, to_y, to_x, to_y)


if __name__ == "__main__":
    sys.stdout.write(as_svg())
