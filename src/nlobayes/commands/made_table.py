"""Tables that commands make, as text or as parquet."""

from pathlib import Path
from typing import Annotated

from nlobayes.artifacts.files import write_parquet, write_text
from nlobayes.data.parquet_tables import to_arrow
from nlobayes.data.table_files import read_table, to_csv_text
from nlobayes.errors import InputError
from nlobayes.stage_files import File
from nlobayes.types import Table


def check_ending(path: Path) -> None:
    """Refuse a path that names no format of tables.

    Raises InputError if it ends neither in .csv nor in .parquet.
    """
    if path.suffix not in {".csv", ".parquet"}:
        raise InputError("commands.table_ending", where="--out", path=path)


def write_table(path: Path, table: Table) -> None:
    """Write a table with its units and metadata, in the format that the path names."""
    if path.suffix == ".csv":
        write_text(path, to_csv_text(table))
    else:
        write_parquet(path, to_arrow(table))


MadeTable = Annotated[Table, File(read_table, write_table, recorded=True, check=check_ending)]
FailuresTable = Annotated[
    Table, File(write=write_table, option="failures", recorded=True, check=check_ending)
]
