"""Draw the figures of one run."""

from pathlib import Path
from typing import Annotated

import typer

from nlobayes.artifacts.files import read_csv, write_bytes
from nlobayes.plots.registry import FIGURES
from nlobayes.plots.style import render


def plot(
    tables: Annotated[Path, typer.Option(help="Folder with the tables behind the figures.")],
    out: Annotated[Path, typer.Option(help="Folder for the figures.")],
) -> None:
    """Draw every figure from its tables, as SVG and PNG."""
    for name, figure in FIGURES.items():
        drawn = figure.draw(*(read_csv(tables / f"{table}.csv") for table in figure.tables))
        for kind in ("svg", "png"):
            write_bytes(out / f"{name}.{kind}", render(drawn, kind))
