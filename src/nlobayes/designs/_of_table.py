"""What designs of a user's table share: its columns, read in the units of the settings."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import model_validator

from nlobayes.designs import DesignSettings, Points
from nlobayes.errors import InputError
from nlobayes.settings.user_files import GivenPath
from nlobayes.settings.values import Names

if TYPE_CHECKING:
    import numpy as np


class DesignOfTable(DesignSettings):
    """A design whose points are rows of a text or parquet table."""

    path: GivenPath
    """Path of the table, relative to the working directory."""
    columns: Names
    """Columns that are coordinates of points; others are not read."""
    units: dict[str, str] = {}
    """Unit of each column that has one, as `{m1: GeV}`; values are converted from that of the
    table."""

    @model_validator(mode="after")
    def _knows_its_table(self) -> DesignOfTable:
        for name in self.units:
            if name not in self.columns:
                raise InputError("designs.unit_of_other", name=name, columns=self.columns)
        if not Path(self.path).is_file():
            raise InputError("designs.no_table", path=self.path)
        return self

    @property
    def given(self) -> str | None:
        """Path of the table."""
        return self.path

    def digest(self) -> str:
        """Return a digest of the content of the table."""
        with Path(self.path).open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()

    def read(self) -> Points:
        """Read the columns of all rows.

        Raises InputError if the table cannot be read, lacks a column, has a cell that is no finite
        number, or states a unit that the settings do not state or cannot convert.
        """
        from nlobayes.data.selection import finite_numbers
        from nlobayes.data.table_files import read_table
        from nlobayes.data.units import in_unit

        table, found = read_table(Path(self.path)), {}
        for name in self.columns:
            values = finite_numbers(table, name, self.path)
            own, asked = table.units.get(name, ""), self.units.get(name, "")
            if own not in ("", "1") and not asked:
                raise InputError("designs.unit_not_stated", where=self.path, name=name, unit=own)
            found[name] = in_unit(values, name, (own or asked, asked), self.path)
        return found


def first_of_equal(points: Points) -> np.ndarray:
    """Return for each row (row,) the first row that equals it."""
    import numpy as np

    rows = np.column_stack([*points.values()]) + 0.0  # makes -0.0 and 0.0 equal
    _, first, same = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    return first[same.ravel()]
