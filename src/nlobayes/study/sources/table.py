"""Settings of a table of the user."""

from __future__ import annotations

import hashlib
import math
from pathlib import Path
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from nlobayes.errors import InputError
from nlobayes.settings.user_files import GivenPath
from nlobayes.settings.values import PositiveInt
from nlobayes.study.sources import UNKNOWN_ROWS, SourceSettings
from nlobayes.untyped import Document

BYTES_PER_VALUE = 4
"""Fewest bytes that a value of a table takes on disk."""


Sums = Annotated[dict[str, dict[str, float]], Field(exclude_if=lambda sums: not sums)]
"""Weights of columns by the name of their sum; jobs omit the key if there are none."""


class TableSource(SourceSettings):
    """A text or parquet table of the user."""

    states_process: ClassVar[bool] = False

    kind: Literal["table"]
    path: GivenPath
    """Path of the table, relative to the working directory."""
    units: dict[str, str] = {}
    """Unit of each column that does not name its own (`m1: GeV`)."""
    names: tuple[str, ...] = ()
    """Names of the columns of a text table that has no header (`[m1, n11, sigma]`)."""
    sums: Sums = {}
    """Columns to add, each a sum of columns with weights, as `{m2: {mean: 2, m1: -1}}`."""
    duplicates: Literal["reject", "keep"] = "reject"
    """Refuse rows that repeat an earlier one, since splits would share them, or keep them."""
    most_mb: PositiveInt = 100
    """Largest size of a table when unpacked, in MB; reading takes up to 30 times as much memory."""

    @property
    def given(self) -> str:
        """Path of the table."""
        return self.path

    def rows(self, columns: int) -> int:
        """Return an upper bound from the bytes of the table; one further column is the target."""
        path = Path(self.path)
        if not path.is_file():
            return UNKNOWN_ROWS
        return math.ceil(path.stat().st_size / (BYTES_PER_VALUE * (columns + 1)))

    def digest(self) -> str:
        """Return a digest of the content of the table."""
        with Path(self.path).open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()

    def check_given(self) -> None:
        """Refuse a table that does not exist."""
        path = Path(self.path)
        if not path.exists():
            raise InputError("study.no_table", where="path", path=path)

    def reading(self) -> Document:
        """Return all settings for `prepare` except the path, which is an input of its rule."""
        return self.model_dump(exclude={"kind", "path"})
