"""Draw figures from their tables."""

from pathlib import Path
from typing import Annotated

import typer

from nlobayes import provenance
from nlobayes.artifacts.files import read_csv, write_bytes
from nlobayes.artifacts.records import write_record
from nlobayes.artifacts.seals import digests
from nlobayes.errors import InputError
from nlobayes.plots.registry import FIGURES
from nlobayes.plots.style import render

KINDS = ("svg", "png")


def plot(
    tables: Annotated[Path, typer.Option(help="Folder with the tables behind the figures.")],
    out: Annotated[Path, typer.Option(help="Folder for the figures.")],
    figure: Annotated[list[str], typer.Option(help="Name of a figure; once per figure.")],
    verdict: Annotated[Path | None, typer.Option(help="Verdict on the run (CSV).")] = None,
    record: Annotated[Path | None, typer.Option(help="Record of what made it (JSON).")] = None,
) -> None:
    """Draw figures as SVG and PNG; a failed verdict is written on every one, in red."""
    unknown = [name for name in figure if name not in FIGURES]
    if unknown:
        raise InputError(f"unknown figure {unknown[0]!r}; known: {', '.join(FIGURES)}")
    warning = _warning(verdict)
    for name in figure:
        rows = [read_csv(path) for path in _tables_of(name, tables)]
        drawn = FIGURES[name].draw(*rows, warning=warning)
        for kind in KINDS:
            write_bytes(out / f"{name}.{kind}", render(drawn, kind))
    read = {path for name in figure for path in _tables_of(name, tables)}
    inputs = digests(sorted(read | ({verdict} if verdict else set())))
    made = provenance.record("plot", {"figures": figure}, inputs)
    write_record(record, made, [out / f"{name}.{kind}" for name in figure for kind in KINDS])


def _tables_of(figure: str, folder: Path) -> list[Path]:
    return [folder / f"{table}.csv" for table in FIGURES[figure].tables]


def _warning(verdict: Path | None) -> str:
    if verdict is None:
        return ""
    checks = read_csv(verdict)
    failed = checks["check"][~checks["passed"]].tolist()
    return f"NOT CONVERGED: {', '.join(failed)} failed" if failed else ""
