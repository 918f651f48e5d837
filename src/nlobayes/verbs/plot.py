"""Draw figures from their tables."""

from pathlib import Path
from typing import Annotated

import typer

from nlobayes.artifacts.files import read_csv, write_bytes
from nlobayes.errors import InputError
from nlobayes.plots.registry import FIGURES
from nlobayes.plots.style import render


def plot(
    tables: Annotated[Path, typer.Option(help="Folder with the tables behind the figures.")],
    out: Annotated[Path, typer.Option(help="Folder for the figures.")],
    figure: Annotated[list[str], typer.Option(help="Name of a figure; once per figure.")],
    verdict: Annotated[Path | None, typer.Option(help="Verdict on the run (CSV).")] = None,
) -> None:
    """Draw figures as SVG and PNG; a failed verdict is written on every one, in red."""
    unknown = [name for name in figure if name not in FIGURES]
    if unknown:
        raise InputError(f"unknown figure {unknown[0]!r}; known: {', '.join(FIGURES)}")
    warning = _warning(verdict)
    for name in figure:
        spec = FIGURES[name]
        rows = [read_csv(tables / f"{table}.csv") for table in spec.tables]
        drawn = spec.draw(*rows, warning=warning)
        for kind in ("svg", "png"):
            write_bytes(out / f"{name}.{kind}", render(drawn, kind))


def _warning(verdict: Path | None) -> str:
    if verdict is None:
        return ""
    checks = read_csv(verdict)
    failed = checks["check"][~checks["passed"]].tolist()
    return f"NOT CONVERGED: {', '.join(failed)} failed" if failed else ""
