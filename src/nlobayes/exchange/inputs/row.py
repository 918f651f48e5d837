"""All columns of a point in a file: a CSV table of one row, or a JSON object."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Literal

from nlobayes.exchange.inputs import FileName, InputSettings


class _AllColumns(InputSettings):
    def fields(self) -> None:
        """Return None: all columns enter the file."""
        return None


class CSVInput(_AllColumns):
    """A header with the names of the columns, and one row with their values."""

    kind: Literal["csv"]
    name: FileName = "point.csv"
    """Name of the file in the folder where the program runs."""

    def text(self, point: Mapping[str, float]) -> str:
        """Write the header and the row, numbers with all their digits."""
        return f"{','.join(point)}\n{','.join(map(_exact, point.values()))}\n"


class JSONInput(_AllColumns):
    """An object with the values by the names of the columns."""

    kind: Literal["json"]
    name: FileName = "point.json"
    """Name of the file in the folder where the program runs."""

    def text(self, point: Mapping[str, float]) -> str:
        """Write the object, numbers with all their digits."""
        return json.dumps({name: float(value) for name, value in point.items()}) + "\n"


def _exact(value: float) -> str:
    return repr(float(value))
