"""Predict the points of a table with a surrogate, in memory that does not grow with the table."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
import pyarrow as pa
import typer

from nlobayes.artifacts.streams import print_chunks, write_chunks
from nlobayes.commands.shared import runtime
from nlobayes.commands.shared.points import Asked, Tally, predicted
from nlobayes.commands.shared.progress import rows_passing
from nlobayes.commands.shared.quantiles import probabilities_of
from nlobayes.commands.shared.slha_out import OPTION, write_xsection
from nlobayes.data.chunks import ROWS, Source, open_csv, open_table
from nlobayes.data.spectrum_chunks import ENDING, open_spectra
from nlobayes.data.units import convert
from nlobayes.errors import InputError, one_line
from nlobayes.surrogate.classifier import Classifier
from nlobayes.surrogate.identity import in_words
from nlobayes.surrogate.loading import load
from nlobayes.surrogate.surrogate import Surrogate
from nlobayes.surrogate.trained import Trained

STANDARD = "-"
FORMS = {".csv": "csv", ".jsonl": "jsonl", ".parquet": "parquet"}
CELLS = 2_000_000
"""Posterior draws at points that are in memory at once, if draws are requested."""


def predict(
    surrogate: Annotated[Path, typer.Argument(help="Surrogate, written by `nlobayes export`.")],
    points: Annotated[
        str,
        typer.Argument(
            help="Table (.csv, .csv.gz, .parquet), .slha file, folder of these, or - for CSV from "
            "standard input."
        ),
    ],
    out: Annotated[
        str, typer.Option("--out", "-o", help="File to write: .csv, .jsonl, .parquet; - prints.")
    ] = STANDARD,
    json: Annotated[bool, typer.Option("--json", help="Write JSON, one object a line.")] = False,
    quantiles: Annotated[str, typer.Option(help="Probabilities, with commas.")] = "0.16,0.84",
    scale: Annotated[
        Literal["target", "log10"], typer.Option(help="Predict the target, or its log10.")
    ] = "target",
    unit: Annotated[str, typer.Option(help="Unit to give the target in.")] = "",
    keep: Annotated[list[str] | None, typer.Option(help="Column to copy; once for each.")] = None,
    draws: Annotated[int, typer.Option(help="Posterior draws to give as well.", min=0)] = 0,
    skip_bad: Annotated[bool, typer.Option("--skip-bad", help="Leave out unusable rows.")] = False,
    engine: Annotated[
        Literal["numpy", "jax"], typer.Option(help="What computes; jax compiles first.")
    ] = "numpy",
    slha_out: Annotated[
        Path | None,
        typer.Option(help="Copy of the .slha file, or itself, with a block XSECTION."),
    ] = None,
) -> None:
    """Write what is predicted for every point, how sure that is, and whether to trust it."""
    form = _form(out, json)
    if engine == "jax":
        runtime.configure("float64")
    loaded = _load(surrogate, engine)
    if isinstance(loaded, Classifier):
        given = {"--unit": unit, "--draws": draws, "--slha-out": slha_out}
        _check_no_numbers(given | {"--scale log10": scale == "log10"}, loaded)
    name, unit, factor = _target(loaded, scale, unit)
    on: Literal["target", "model"] = "model" if scale == "log10" else "target"
    asked = Asked(
        probabilities_of(quantiles), on, name, unit, factor, (*(keep or ()),), draws, skip_bad
    )
    _check(loaded, asked, out, (points, str(surrogate)))
    if slha_out is not None and isinstance(loaded, Surrogate):
        _write_xsection(loaded, points, slha_out, (out, str(surrogate)))
    tally = Tally()
    with (
        _open(points, loaded, asked) as source,
        rows_passing("predict", shown=out != STANDARD or not sys.stdout.isatty()) as passed,
    ):
        found = predicted(loaded, source, asked, tally, passed)
        if out == STANDARD:
            _print(found, form, tally)
        else:
            write_chunks(Path(out), found, form)
    typer.echo(one_line(f"nlobayes: {loaded.target} of {in_words(loaded.origin)}"), err=True)
    _warn(loaded, source, tally)


def _write_xsection(loaded: Surrogate, points: str, out: Path, others: tuple[str, ...]) -> None:
    for name in others:
        if out == Path(name) or (out.exists() and Path(name).exists() and out.samefile(name)):
            raise InputError("commands.out_is_read", where=OPTION, path=out)
    if others := write_xsection(loaded, points, out):
        _say(
            f"{out} keeps cross sections of the same process, energy and order by "
            f"{', '.join(others)}: a program that reads the file may take either, or both"
        )


def _check_no_numbers(options: Mapping[str, object], loaded: Classifier) -> None:
    """Refuse options that mean something of numbers alone."""
    for option, value in options.items():
        if value:
            raise InputError("commands.option_of_numbers", where=option, target=loaded.target)


def _load(path: Path, engine: Literal["numpy", "jax"]) -> Surrogate | Classifier:
    try:
        return load(path, engine)
    except InputError as error:
        if path.suffix == ".nc":
            raise
        raise InputError(
            "commands.surrogate_comes_first",
            where=error.where,
            reason=error.reason,
            faults=[error.code],
        ) from None


def _form(out: str, json: bool) -> str:
    ending = Path(out).suffix
    if out == STANDARD or (json and ending not in FORMS):
        return "jsonl" if json else "csv"
    if json and FORMS[ending] != "jsonl":
        raise InputError("commands.json_ending", where="--out", path=out)
    if ending not in FORMS:
        raise InputError("commands.predictions_ending", where="--out", path=out, endings=[*FORMS])
    return FORMS[ending]


def _target(loaded: Trained, scale: str, unit: str) -> tuple[str, str, float]:
    """Name what is predicted and its unit, and find the factor that takes it there."""
    name, own = loaded.target, loaded.units.get(loaded.target, "")
    if scale == "log10":
        _check_log10(loaded, unit)
        return f"log10_{name}", "", 1.0
    if unit in ("", own):
        return name, own, 1.0
    try:
        factor = float(convert(np.ones(1), own, unit)[0])
    except InputError as error:
        raise error.within("--unit") from None
    return name.removesuffix(own) + unit if name.endswith(f"_{own}") else name, unit, factor


def _check_log10(loaded: Trained, unit: str) -> None:
    option = "--scale log10"
    if unit:
        raise InputError("commands.unit_of_log10", where=option)
    if loaded.scale != "log10":
        raise InputError("commands.no_log10_learned", where=option, target=loaded.target)


def _check(loaded: Trained, asked: Asked, out: str, read: tuple[str, ...]) -> None:
    if asked.draws > loaded.draws:
        raise InputError(
            "commands.too_many_draws", where="--draws", asked=asked.draws, draws=loaded.draws
        )
    for name in read:
        if Path(out).exists() and Path(name).exists() and Path(out).samefile(name):
            raise InputError("commands.out_is_read", where="--out", path=out)


def _open(points: str, loaded: Trained, asked: Asked) -> AbstractContextManager[Source]:
    rows = min(ROWS, max(1, CELLS // loaded.draws)) if asked.draws else ROWS
    columns = [*loaded.inputs, *asked.keep]
    if points == STANDARD:
        found = open_csv(sys.stdin.buffer, columns, "standard input", rows, optional=loaded.held)
        return nullcontext(found)
    path = Path(points)
    if path.is_dir() or path.suffix == ENDING:
        return nullcontext(open_spectra(path, columns, rows, loaded.held))
    return open_table(path, columns, rows, loaded.held)


def _print(found: Iterator[pa.RecordBatch], form: str, tally: Tally) -> None:
    try:
        print_chunks(found, form)
    except InputError as error:
        if not tally.predicted:
            raise
        raise InputError(
            "commands.printed_in_part",
            where=error.where,
            reason=error.reason,
            faults=[error.code],
        ) from None


def _warn(loaded: Trained, source: Source, tally: Tally) -> None:
    if loaded.approximate:
        _say("this surrogate is an approximate posterior: convergence does not apply to it")
    for kind, failed in loaded.failed_checks.items():
        if failed:
            _say(f"{kind} of this surrogate failed: {', '.join(failed)}")
    if tally.skipped:
        total = tally.skipped + tally.predicted
        _say(f"{tally.skipped} of {total} {source.label}s left out, the first: {tally.reason}")
    if tally.outside:
        _say(
            f"{tally.outside} of {tally.predicted} points lie outside the training data (column "
            "domain): neither their predictions nor the error bars can be trusted"
        )
    if tally.violating:
        _say(
            f"{tally.violating} of {tally.predicted} points violate the conditions of the "
            f"surrogate (column reason), the first: {tally.violated}"
        )
    if tally.untold:
        _say(
            f"{tally.untold} of {tally.predicted} points do not state all parameters that the "
            "surrogate was made for (column reason)"
        )
    if tally.near_edge:
        _say(
            f"{tally.near_edge} of {tally.predicted} points lie near the edge of the training data "
            "(column domain): few rows test the errors there"
        )


def _say(warning: str) -> None:
    typer.echo(f"nlobayes: warning: {one_line(warning)}", err=True)
