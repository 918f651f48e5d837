"""Atomic writes: a file or folder under its name is complete, or it does not exist."""

from __future__ import annotations

import csv
import errno
import json
import math
import os
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar, cast

from nlobayes.artifacts import temporaries
from nlobayes.errors import InputError
from nlobayes.stage_files import File
from nlobayes.types import Columns
from nlobayes.untyped import Document, Facts

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

Kind = TypeVar("Kind")


def write_atomically(path: Path, write: Callable[[Path], object]) -> None:
    """Call `write` on a temporary file beside `path`, then move the file into place.

    The umask sets the modes of the file and of new folders. Temporary files of killed writers of
    `path` are deleted; those of running writers are kept.

    Raises InputError if the directory cannot be written or is full; then no temporary file remains.
    """
    temporary = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporaries.remove_left_behind(path)
        temporary = temporaries.create(path)
        write(temporary)
        with temporary.open("rb+") as file:
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as error:
        raise not_written(path, error) from error
    finally:
        if temporary is not None:
            temporary.unlink(missing_ok=True)


def check_place(path: Path) -> None:
    """Refuse a place that cannot be written, for use before a long computation.

    Missing folders are created.

    Errors as for `write_atomically`, or if the path is a folder.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporaries.create(path).unlink()
        if path.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    except OSError as error:
        raise not_written(path, error) from error


def write_text(path: Path, text: str) -> None:
    """Write text as UTF-8."""
    write_atomically(path, lambda temporary: temporary.write_text(text, "utf-8"))


def write_bytes(path: Path, content: bytes) -> None:
    """Write bytes."""
    write_atomically(path, lambda temporary: temporary.write_bytes(content))


def write_json(path: Path, content: Facts) -> None:
    """Write a mapping as indented JSON; numbers must be finite."""
    write_text(path, as_json(content))


def json_file(*keys: str) -> File:
    """Describe a JSON object that has these keys, as a file of a stage."""
    return File(lambda path: read_json(path, *keys), write_json, recorded=True)


JSONFile = Annotated[Document, json_file()]


def as_json(content: Facts) -> str:
    """Return a mapping as the text that `write_json` writes."""
    return json.dumps(content, indent=2, allow_nan=False) + "\n"


def write_csv(path: Path, columns: Facts) -> None:
    """Write columns of equal length as CSV, floats with 9 significant digits."""
    import pandas as pd

    write_text(path, pd.DataFrame(dict(columns)).to_csv(index=False, float_format="%.9g"))


def write_tables(folder: Path, tables: Mapping[str, Facts]) -> list[Path]:
    """Write tables as CSV files of their names into a folder, and return the files."""
    paths = {folder / f"{name}.csv": columns for name, columns in tables.items()}
    for path, columns in paths.items():
        write_csv(path, columns)
    return [*paths]


TableFiles = Annotated[dict[str, Columns], File(write=write_tables, option="plots", recorded=True)]
"""Tables behind figures, by name."""


def write_parquet(path: Path, table: pa.Table) -> None:
    """Write an Arrow table as parquet, with checksums."""
    from pyarrow import parquet

    def write(temporary: Path) -> None:
        parquet.write_table(table, temporary, write_page_checksum=True)

    write_atomically(path, write)


def write_folder(path: Path, copies: Mapping[str, Path], texts: Mapping[str, str]) -> None:
    """Make a folder of copies of files and of text files, both by their names in the folder.

    Raises InputError if `path` exists or cannot be written; then no temporary folder remains.
    """
    if path.exists() or path.is_symlink():
        raise InputError("artifacts.folder_exists", path=path)
    temporary = temporaries.name_beside(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporaries.remove_left_behind(path)
        temporary.mkdir()
        for name, source in copies.items():
            _copy(source, temporary / name)
        for name, text in texts.items():
            write_text(temporary / name, text)
        os.rename(temporary, path)
    except OSError as error:
        raise not_written(path, error) from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _copy(source: Path, target: Path) -> None:
    with source.open("rb") as read, target.open("xb") as written:
        shutil.copyfileobj(read, written)
        written.flush()
        os.fsync(written.fileno())


def read_json(path: Path, *keys: str) -> Document:
    """Read a JSON object that has these keys.

    Raises InputError if the file is missing, not JSON, not an object or lacks a key.
    """
    try:
        content = json.loads(path.read_text("utf-8"), parse_constant=_refuse_constant)
    except (OSError, ValueError, RecursionError) as error:
        raise InputError("artifacts.not_json", path=path, reason=str(error)) from error
    if not isinstance(content, dict):
        raise InputError("artifacts.no_json_object", path=path)
    missing = [key for key in keys if key not in content]
    if missing:
        raise InputError("artifacts.no_key", path=path, missing=missing, keys=sorted(content))
    return content


def read_as(kind: type[Kind], path: Path, *keys: str) -> Kind:
    """Read a JSON object as `read_json`, as a dictionary of this type."""
    return cast(Kind, read_json(path, *keys))


def read_csv(path: Path) -> pd.DataFrame:
    """Read a table that `write_csv` wrote.

    Raises InputError if the file is missing or not CSV.
    """
    import pandas as pd

    try:
        return pd.read_csv(path)
    except (OSError, ValueError) as error:
        raise InputError("artifacts.not_csv", path=path, reason=str(error)) from error


def read_timing(path: Path, column: str) -> float | None:
    """Read a column of the timing that Snakemake keeps of a job; None if it is not known.

    Timings are kept only on the machine that ran the job. Very short jobs have no CPU time.
    """
    try:
        rows = list(csv.DictReader(path.read_text("utf-8").splitlines(), delimiter="\t"))
        value = float(rows[-1][column])
    except (OSError, ValueError, KeyError, IndexError, TypeError):
        return None
    return value if math.isfinite(value) else None


def not_written(path: Path, error: OSError) -> InputError:
    """Return the error for a failed write, with its reason and the free space of the disk.

    The free space is included because not every library reports a full disk.
    """
    reason = str(error)
    try:
        free = shutil.disk_usage(next(folder for folder in path.parents if folder.is_dir())).free
    except (OSError, StopIteration):
        return InputError("artifacts.not_written", path=path, reason=reason)
    return InputError("artifacts.not_written_here", path=path, reason=reason, free_mb=free / 1e6)


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON number")
