"""Print the kind, the origin and the contents of an artifact."""

from collections.abc import Iterator, Mapping
from json import dumps
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from nlobayes import provenance
from nlobayes.artifacts.audit.file_summary import summarise
from nlobayes.artifacts.audit.origins import Project
from nlobayes.artifacts.netcdf import read_attrs
from nlobayes.artifacts.surrogate_file import KIND, read_surrogate
from nlobayes.code_digest import code_digest
from nlobayes.errors import InputError, one_line
from nlobayes.stages import GROUPS
from nlobayes.surrogate.consistency import check
from nlobayes.surrogate.identity import origin
from nlobayes.untyped import Document

Row = tuple[str | Text, ...]
RED = "bold red"
WIDTH = 160
MOST_FILES = 20
"""Most unchanged files that are listed one by one."""
UNITS = ("B", "kB", "MB", "GB", "TB")


def show(
    path: Annotated[Path, typer.Argument(help="An artifact.")],
    project: Annotated[Path, typer.Option(help="Root of the project.")] = Path(),
    json: Annotated[bool, typer.Option("--json", help="Print it as JSON.")] = False,
) -> None:
    """Print a summary of one file, with failed checks and changed files in red."""
    if not path.is_file():
        raise InputError("commands.no_artifact", where="show", path=path)
    _check_surrogate(path)
    files = Project(project)
    summary = summarise(files, files.name(path))
    if summary["made"] is not None:
        summary["made"] |= _against_ours(summary["made"])
    if json:
        typer.echo(dumps(summary, indent=2, allow_nan=False))
    else:
        _print(summary)


def _check_surrogate(path: Path) -> None:
    """Refuse to show a surrogate that cannot be loaded."""
    if path.suffix == ".nc" and read_attrs(path).get("kind") == KIND:
        check(read_surrogate(path), str(path))


def _against_ours(made: Document) -> Document:
    """Compare an origin with the installed code and the lock file beside it."""
    known = any(made["verb"] in commands for commands in GROUPS.values())
    installed = code_digest(made["verb"], made.get("spec") or {}) if known else None
    return {
        "installed_code": installed == made["code_digest"],
        "same_lock": provenance.lock_digest() == made["lock_digest"],
    }


def _print(summary: Document) -> None:
    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = WIDTH
    console.print(Text(summary["path"], "bold"))
    sealed = ", sealed: byte for byte as it was written" if summary["sealed"] else ""
    size = _size(summary["size"]) + sealed
    kind: list[Row] = [("kind", summary["kind"]), ("size", size), ("sha256", summary["sha256"])]
    _section(console, "", kind)
    made = summary["made"]
    if made is None:
        console.print("\nmade by: unknown, no attribute and no record states it")
    else:
        _section(console, "made by", _made(made))
        _section(console, "made from", _files(made["inputs"]))
        _section(console, "specification", _lines(made["spec"] or {}))
    # What the table states of its process, unknown entries included.
    stated = origin(summary) if "table_metadata" in summary else {}
    _section(console, "of", [*stated.items()])
    _section(console, "made", _files(summary.get("outputs", {})))
    _section(console, "numbers", [(n, _value(v)) for n, v in summary.get("numbers", {}).items()])
    _section(console, "columns", _columns(summary.get("columns", [])))
    _section(console, "checks", _checks(summary.get("checks", {})))
    _section(console, "groups", _groups(summary.get("groups", {})))


def _section(console: Console, title: str, rows: list[Row]) -> None:
    """Print rows below a title; long cells are wrapped."""
    if not rows:
        return
    grid = Table.grid(padding=(0, 2))
    for _ in rows[0]:
        grid.add_column(overflow="fold")
    for row in rows:
        grid.add_row(*(Text(one_line(cell)) if isinstance(cell, str) else cell for cell in row))
    if title:
        console.print(Text(f"\n{title}", "bold"))
    console.print(grid)


def _made(made: Document) -> list[Row]:
    code = _compared(made["code_digest"], made["installed_code"], "other than is installed")
    lock = _compared(made["lock_digest"], made["same_lock"], "other than beside the installed code")
    rows: list[Row] = [("verb", made["verb"]), ("code", code), ("lock file", lock)]
    rows += [(name, _value(made[name])) for name in ("device", "precision") if made[name]]
    if made["exact"] is not None:
        rows.append(("exact", "yes" if made["exact"] else Text("NO: its sampler is biased", RED)))
    versions = (made["versions"] or {}).items()
    rows.append(("versions", ", ".join(f"{name} {version}" for name, version in versions)))
    rows.append(("recorded in", made["recorded_in"]))
    if made["since"] != "the same":
        rows.append(("since then", Text(made["since"], RED)))
    return rows


def _compared(value: Any, same: bool, otherwise: str) -> Text:
    text = Text(_value(value))
    return text if same else text.append(f", {otherwise}", RED)


def _files(states: Mapping[str, str]) -> list[Row]:
    """Return a row for each file; if many are unchanged, they share one row."""
    same = [name for name, state in states.items() if state == "the same"]
    shared: list[Row] = []
    if len(same) > MOST_FILES:
        shared = [(f"{len(same)} files, {same[0]} to {same[-1]}", "the same")]
        states = {name: state for name, state in states.items() if state != "the same"}
    return shared + [
        (name, state if state == "the same" else Text(state, RED)) for name, state in states.items()
    ]


def _lines(spec: Any, above: str = "") -> list[Row]:
    """Return a row for every leaf of a specification."""
    if not isinstance(spec, dict):
        return [(above, _value(spec))]
    inner = (_lines(value, f"{above}.{name}".strip(".")) for name, value in sorted(spec.items()))
    return [row for rows in inner for row in rows]


def _columns(columns: list[Document]) -> list[Row]:
    return [
        (column["name"], column["unit"] or "", _range(column["least"], column["most"]))
        for column in columns
    ]


def _range(least: Any, most: Any) -> str:
    return "" if least is None else f"{_value(least)} to {_value(most)}"


def _checks(checks: Mapping[str, Document]) -> list[Row]:
    return [
        (
            "passed" if check["passed"] else Text("FAILED", RED),
            name,
            "not finite" if check["value"] is None else _value(check["value"]),
            ", ".join(_limits(check)),
        )
        for name, check in checks.items()
    ]


def _limits(check: Document) -> Iterator[str]:
    for name, label in (("threshold", "limit"), ("low", "at least"), ("high", "at most")):
        if check.get(name) is not None:
            yield f"{label} {_value(check[name])}"


def _groups(groups: Mapping[str, Document]) -> list[Row]:
    return [
        ("" if number else group, name, _dims(variable["dims"]), variable["type"])
        for group, variables in groups.items()
        for number, (name, variable) in enumerate(variables.items())
    ]


def _dims(dims: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {size}" for name, size in dims.items()) or "one value"


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.6g}"
    if value is None:
        return "none"
    return one_line(value if isinstance(value, str) else dumps(value))


def _size(size: float) -> str:
    for unit in UNITS[:-1]:
        if size < 1000:
            return f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:.3g} {UNITS[-1]}"
