"""Output of `predict`: a file in the format of its ending, or standard output."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import pyarrow as pa

from nlobayes.artifacts.streams import print_chunks, write_chunks
from nlobayes.commands.shared.points import Tally
from nlobayes.errors import InputError

STANDARD = "-"
FORMS = {".csv": "csv", ".jsonl": "jsonl", ".parquet": "parquet"}


def form_of(out: str, json: bool) -> str:
    """Choose the format of the rows.

    Raises
    ------
    InputError
        If the ending names no format, or another than the requested JSON.
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


def write_rows(found: Iterator[pa.RecordBatch], out: str, form: str, tally: Tally) -> None:
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
            "commands.printed_in_part",
            where=error.where,
            reason=error.reason,
            faults=[error.code],
        ) from None
