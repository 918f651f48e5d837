"""A list: all points of a table of the user."""

from __future__ import annotations

import gzip
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field, model_validator

from nlobayes.designs import Points
from nlobayes.designs._of_table import DesignOfTable, first_of_equal
from nlobayes.errors import InputError

if TYPE_CHECKING:
    import numpy as np

TEXT = (".csv", ".tsv", ".txt", ".dat")
"""Endings of tables whose rows are counted as lines."""


class ListDesign(DesignOfTable):
    """All rows of a table, in their order. A row that repeats an earlier one is refused."""

    kind: Literal["list"]
    points: Annotated[int | None, Field(ge=1, strict=True)] = None
    """Number of rows; counted in text tables with a header, to be stated of others."""

    @model_validator(mode="after")
    def _can_be_counted(self) -> ListDesign:
        if self.points is None and not self._is_text:
            raise InputError("designs.rows_not_counted", path=self.path)
        return self

    @property
    def _is_text(self) -> bool:
        return self.path.lower().removesuffix(".gz").endswith(TEXT)

    @property
    def rows(self) -> int:
        """Number of rows: lines that are neither empty nor a comment, without the header."""
        if self.points is not None:
            return self.points
        opened = gzip.open if self.path.lower().endswith(".gz") else open
        with opened(Path(self.path), "rb") as file:
            return sum(bool(line.strip()) and not line.startswith(b"#") for line in file) - 1

    def compute(self) -> Points:
        """Read the points; errors as `read`, and if they are not `rows` or not all different."""
        import numpy as np

        points = self.read()
        first = first_of_equal(points)
        if len(first) != self.rows:
            raise InputError(
                "designs.other_rows", where=self.path, rows=len(first), counted=self.rows
            )
        if (again := np.flatnonzero(first < np.arange(len(first)))).size:
            row = int(again[0])
            raise InputError(
                "designs.row_twice", where=self.path, row=row + 1, first=int(first[row]) + 1
            )
        return points

    def random(
        self, count: int, seed: int, taken: Mapping[str, np.ndarray] | None = None
    ) -> Points:
        """Refuse: a list has no further points."""
        raise InputError("designs.no_more_of_list", where=self.path)
