"""Chunked reading of SLHA files as rows of a table: masses and mixings of electroweakinos."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from nlobayes.data.column_names import check_known
from nlobayes.data.fixed_parameters import unit_of_parameter
from nlobayes.data.row_chunks import ROWS, Chunk, Source
from nlobayes.data.slha import spectrum_of, unit_of
from nlobayes.data.slha_blocks import is_slha, read_text
from nlobayes.errors import InputError
from nlobayes.physics.processes import CHARGINOS, NEUTRALINOS, columns_of

COLUMNS = (*(name for each in (*NEUTRALINOS, *CHARGINOS) for name in columns_of(each)), "msq")
"""Columns that can be read from a file."""


def open_spectra(
    path: Path, columns: Sequence[str], rows: int = ROWS, optional: Sequence[str] = ()
) -> Source:
    """Open an SLHA file, or all in a folder and its subfolders, to read these columns.

    Columns that are `optional`, the names of `parameters`, are NaN for files without them. In a
    folder an unusable file is a fault of its chunk.

    Raises InputError if there is no such file, a file that is given alone is unusable, or a column
    is not one of `COLUMNS` nor a parameter.
    """
    for column in columns:
        if not unit_of_parameter(column):
            check_known(COLUMNS, column, str(path))
    held = [column for column in optional if column not in columns]
    files = list_files(path)
    folder = path if path.is_dir() else path.parent

    def chunks() -> Iterator[Chunk]:
        for first in range(0, len(files), rows):
            some = files[first : first + rows]
            labels = np.array([file.relative_to(folder).as_posix() for file in some], dtype=object)
            yield Chunk(labels, *_read(some, columns, held, path), (first + len(some)) / len(files))

    name = str(path) if path.is_dir() else "SLHA"
    units = {name: unit_of_parameter(name) for name in (*columns, *held)}
    return Source(name, "file", units | {name: unit_of(name) for name in COLUMNS}, chunks())


def list_files(path: Path) -> list[Path]:
    """List an SLHA file, or all in a folder and its subfolders, which are recognised by content.

    Raises InputError if there is none, the folder cannot be listed, or a name is not printable.
    """
    if not path.exists():
        raise InputError("slha.no_such_file", where=path)
    found = _below(path) if path.is_dir() else [path]
    for file in found:
        if not str(file).isprintable():
            raise InputError("slha.name_does_not_print", where=repr(str(file)))
    return found


def _below(folder: Path) -> list[Path]:
    try:
        found = sorted(file for file in folder.rglob("*") if not file.is_dir() and is_slha(file))
    except OSError as error:
        raise InputError("slha.folder_not_listed", where=folder, reason=str(error)) from None
    if not found:
        raise InputError("slha.no_spectra", where=folder)
    return found


def _read(
    files: Sequence[Path], columns: Sequence[str], optional: Sequence[str], given: Path
) -> tuple[dict[str, np.ndarray], dict[int, str]]:
    named = (*columns, *optional)
    values = np.full((len(files), len(named)), math.nan)
    faults = {}
    for position, file in enumerate(files):
        try:
            found = spectrum_of(read_text(file), str(file), columns, optional)
        except InputError as error:
            if file == given:
                raise
            faults[position] = error.reason
            continue
        values[position] = [found.get(column, math.nan) for column in named]
    return dict(zip(named, values.T, strict=True)), faults
