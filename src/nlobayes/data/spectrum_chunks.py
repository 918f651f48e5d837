"""SLHA files as rows of a table, chunk by chunk: masses and mixings of electroweakinos."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from nlobayes.data.chunks import ROWS, Chunk, Source
from nlobayes.data.csv_text import check_known
from nlobayes.data.processes import CHARGINOS, NEUTRALINOS, columns_of
from nlobayes.data.slha import blocks_of, read_blocks, read_spectrum, read_text, unit_of
from nlobayes.errors import InputError

ENDING = ".slha"
COLUMNS = (*(name for each in (*NEUTRALINOS, *CHARGINOS) for name in columns_of(each)), "msq")
"""What can be read of a file."""


def open_spectra(path: Path, columns: Sequence[str], rows: int = ROWS) -> Source:
    """Open an SLHA file, or all in a folder and those below, to read these columns.

    Raises
    ------
    InputError
        If there is no such file, or a column is none of `COLUMNS`.
    """
    for column in columns:
        check_known(COLUMNS, column, str(path))
    files = _list_files(path)
    folder = path if path.is_dir() else path.parent

    def chunks() -> Iterator[Chunk]:
        for first in range(0, len(files), rows):
            some = files[first : first + rows]
            labels = np.array([file.relative_to(folder).as_posix() for file in some], dtype=object)
            yield Chunk(labels, *_read(some, columns), (first + len(some)) / len(files))

    name = str(path) if path.is_dir() else "SLHA"
    return Source(name, "file", {name: unit_of(name) for name in COLUMNS}, chunks())


def _list_files(path: Path) -> list[Path]:
    if not path.exists():
        raise InputError("slha.no_such_file", where=path)
    try:
        found = sorted(path.rglob(f"*{ENDING}")) if path.is_dir() else [path]
    except OSError as error:
        raise InputError("slha.folder_not_listed", where=path, reason=str(error)) from None
    if not found:
        raise InputError("slha.no_spectra", where=path, ending=ENDING)
    for file in found:
        if not str(file).isprintable():
            raise InputError("slha.name_does_not_print", where=repr(str(file)))
    return found


def _read(
    files: Sequence[Path], columns: Sequence[str]
) -> tuple[dict[str, np.ndarray], dict[int, str]]:
    values = np.full((len(files), len(columns)), math.nan)
    faults = {}
    for position, file in enumerate(files):
        try:
            blocks = read_blocks(read_text(file), blocks_of(columns), str(file))
            found = read_spectrum(blocks, str(file), columns)
        except InputError as error:
            faults[position] = error.reason
            continue
        values[position] = [found.get(column, math.nan) for column in columns]
        if "msq" in columns and "msq" not in found:
            faults[position] = "block MASS lacks some of the eight light squarks"
    return dict(zip(columns, values.T, strict=True)), faults
