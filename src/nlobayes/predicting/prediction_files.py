"""Output of `predict`: a file in the format of its ending or standard output, and warnings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import typer

from nlobayes.artifacts.streams import Chunks, print_chunks, write_chunks
from nlobayes.data.slha_blocks import is_slha
from nlobayes.errors import InputError, one_line
from nlobayes.predicting.surrogate_points import Tally

STANDARD = "-"
FORMS = {".csv": "csv", ".jsonl": "jsonl", ".parquet": "parquet"}


def form_of(out: str, json: bool) -> str:
    """Choose the format of the rows.

    Raises InputError if the ending names no format, or another than the requested JSON.
    """
    ending = Path(out).suffix
    if out == STANDARD or (json and ending not in FORMS):
        return "jsonl" if json else "csv"
    if json and FORMS[ending] != "jsonl":
        raise InputError("commands.json_ending", where="--out", path=out)
    if ending not in FORMS:
        raise InputError("commands.predictions_ending", where="--out", path=out, endings=[*FORMS])
    return FORMS[ending]


def check_not_read(option: str, out: Path, read: Iterable[str]) -> None:
    """Refuse to write to an input file."""
    for name in read:
        if out.exists() and Path(name).exists() and out.samefile(name):
            raise InputError("commands.out_is_read", where=option, path=out)


def write_rows(found: Chunks, out: str, form: str, tally: Tally) -> None:
    """Write rows as they are predicted; `tally` counts those that were printed."""
    if out != STANDARD:
        write_chunks(Path(out), found, form)
        return
    try:
        print_chunks(found, form)
    except InputError as error:
        if not tally.points:
            raise
        raise InputError(
            "commands.printed_in_part", where=error.where, reason=error.reason, faults=[error.code]
        ) from None


def warn_of_checks(failed_checks: Mapping[str, Sequence[str]], surrogate: str) -> None:
    """Warn of failed checks of convergence and of calibration."""
    for kind, failed in failed_checks.items():
        if failed:
            warn(f"{kind} of {surrogate} failed: {', '.join(failed)}")


def warn_of_points(tally: Tally, *, left_out: bool) -> None:
    """Warn of points without a prediction, outside of the domain, or that violate conditions."""
    if tally.unpredicted:
        place = "left out" if left_out else "columns domain, reason"
        warn(
            f"{tally.unpredicted} of {tally.points} points have no prediction ({place}), the "
            f"first: {tally.reason}"
        )
    if tally.outside:
        warn(
            f"{tally.outside} of {tally.predicted} points lie outside the training data (columns "
            "domain, reason): neither their predictions nor the error bars can be trusted"
        )
    if tally.violating:
        warn(
            f"{tally.violating} of {tally.predicted} points violate the conditions of the "
            f"surrogate (column reason), the first: {tally.violated}"
        )
    if tally.unstated:
        warn(
            f"{tally.unstated} of {tally.predicted} points do not state all parameters that the "
            "surrogate was made for (column reason)"
        )
    if tally.near_edge:
        warn(
            f"{tally.near_edge} of {tally.predicted} points lie near the edge of the training data "
            "(column domain): few rows test the errors there"
        )


def warn_of_others(folder: Path) -> None:
    """Warn of files in a folder and below that are no SLHA files, so that none is read."""
    files = sorted(file for file in folder.rglob("*") if not file.is_dir())
    if others := [file.name for file in files if not is_slha(file)]:
        warn(
            f"{folder}: {len(others)} of {len(files)} files are not SLHA by their content and were "
            f"not read, the first: {others[0]}"
        )


def warn(text: str) -> None:
    """Write a warning in one line."""
    typer.echo(f"nlobayes: warning: {one_line(text)}", err=True)
