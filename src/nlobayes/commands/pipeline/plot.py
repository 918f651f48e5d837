"""Draw figures from their tables."""

from pathlib import Path
from typing import Annotated

import typer

from nlobayes import provenance
from nlobayes.artifacts.files import read_csv, write_bytes
from nlobayes.artifacts.records import write_record
from nlobayes.artifacts.seals import digests
from nlobayes.checks import APPROXIMATE, label_of
from nlobayes.errors import InputError
from nlobayes.plots import FIGURES, render

KINDS = ("svg", "png")


def plot(
    tables: Annotated[Path, typer.Option(help="Folder with the tables behind the figures.")],
    out: Annotated[Path, typer.Option(help="Folder for the figures.")],
    figure: Annotated[list[str], typer.Option(help="Name of a figure; once per figure.")],
    verdict: Annotated[Path | None, typer.Option(help="Verdict on the run (CSV).")] = None,
    calibration: Annotated[Path | None, typer.Option(help="Its calibration checks (CSV).")] = None,
    name: Annotated[str, typer.Option(help="What the figures show, as written below them.")] = "",
    record: Annotated[Path | None, typer.Option(help="Record of what made it (JSON).")] = None,
) -> None:
    """Draw figures as SVG and PNG, with the name and, in red, failed checks below each figure."""
    unknown = [name for name in figure if name not in FIGURES]
    if unknown:
        raise InputError("commands.unknown_figure", figure=unknown[0], known=[*FIGURES])
    verdicts = {"NOT CONVERGED": verdict, "CALIBRATION FAILED": calibration}
    warnings = [_warning(word, checks) for word, checks in verdicts.items() if checks]
    if verdict and read_csv(verdict).empty:
        warnings.append(APPROXIMATE)
    for each in figure:
        rows = [read_csv(path) for path in _tables_of(each, tables)]
        drawn = FIGURES[each].draw(*rows, name=name, warnings=warnings)
        for kind in KINDS:
            write_bytes(out / f"{each}.{kind}", render(drawn, kind))
    read = {path for each in figure for path in _tables_of(each, tables)}
    read |= {path for path in verdicts.values() if path}
    made = provenance.record("plot", {"figures": figure, "name": name}, digests(sorted(read)))
    write_record(record, made, [out / f"{each}.{kind}" for each in figure for kind in KINDS])


def _tables_of(figure: str, folder: Path) -> list[Path]:
    return [folder / f"{table}.csv" for table in FIGURES[figure].tables]


def _warning(word: str, path: Path) -> str:
    checks = read_csv(path)
    failed = map(label_of, checks["check"][~checks["passed"].astype(bool)])
    return f"{word}: {names}" if (names := "; ".join(failed)) else ""
