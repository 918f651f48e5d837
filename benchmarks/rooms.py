"""The picture of the rooms, docs/rooms.svg: which folders of the package import which.

    python -m benchmarks.rooms > docs/rooms.svg

An arrow leads from a room to one that imports it, and none where a path over others joins both.
`UTILITIES` are left out: nearly every room imports them. So are names for type checkers.
"""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

from nlobayes.workflow.stage_graph import draw, without_shortcuts

PACKAGE = Path(__file__).parents[1] / "src/nlobayes"
UTILITIES = {"errors", "settings"}
ROOMS = {path.parent.name for path in PACKAGE.glob("*/__init__.py")} - UTILITIES


def as_svg() -> str:
    """Draw the rooms from left to right, those that import no other first."""
    direct = {(other, room) for room in ROOMS for other in imports_of(room)}
    waiting, names = {room: {a for a, b in direct if b == room} for room in ROOMS}, list[str]()
    while waiting:
        ready = sorted(room for room, others in waiting.items() if others <= {*names})
        names += ready
        waiting = {room: others for room, others in waiting.items() if room not in ready}
    title = "Which folder of nlobayes is imported by which"
    return draw(title, names, without_shortcuts(direct))


def imports_of(room: str) -> set[str]:
    """Name the other rooms that files of a room import."""
    modules = {
        module
        for path in (PACKAGE / room).rglob("*.py")
        for module in _modules(ast.parse(path.read_text(encoding="utf-8")))
    }
    return {module.split(".")[1] for module in modules if module.count(".")} & (ROOMS - {room})


def _modules(node: ast.AST) -> Iterator[str]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING":
            continue
        if isinstance(child, ast.ImportFrom) and (child.module or "").startswith("nlobayes"):
            names = (f"{child.module}.{alias.name}" for alias in child.names)
            yield from names
        yield from _modules(child)


if __name__ == "__main__":
    sys.stdout.write(as_svg())
