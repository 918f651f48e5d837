"""A result in a CSV table of one row, or in a JSON document."""

from __future__ import annotations

import csv
import io
import json
from typing import Annotated, Any, Literal

from pydantic import Field

from nlobayes.errors import InputError
from nlobayes.exchange.outputs import SHOWN, OutputSettings, number_of


class CSVOutput(OutputSettings):
    """A table with a header and one row."""

    kind: Literal["csv"]
    header: Annotated[str, Field(min_length=1)]
    """Name of the column of the result in the header of the program."""
    separator: Annotated[str, Field(min_length=1, max_length=1)] = ","
    """Character between two columns."""

    def found(self, text: str) -> float:
        """Read the cell of the column."""
        lines = [line for line in csv.reader(io.StringIO(text), delimiter=self.separator) if line]
        header = [cell.strip() for cell in lines[0]] if lines else []
        if header.count(self.header) != 1:
            raise InputError("programs.no_header", header=self.header, known=header)
        if len(lines) != 2 or len(lines[1]) != len(header):
            raise InputError("programs.no_single_row", rows=len(lines) - 1, cells=len(header))
        return number_of(lines[1][header.index(self.header)])


class JSONOutput(OutputSettings):
    """A number in a JSON document."""

    kind: Literal["json"]
    key: Annotated[tuple[str | int, ...], Field(min_length=1)]
    """Keys and places in lists that lead to the number, as `[result, 0, sigma]`."""

    def found(self, text: str) -> float:
        """Follow the keys."""
        try:
            value: Any = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise InputError("programs.not_json", reason=str(error)) from None
        for key in self.key:
            try:
                value = value[key]
            except (KeyError, IndexError, TypeError):
                raise InputError("programs.no_key", key=key, keys=self.key) from None
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise InputError("programs.no_number", received=repr(value)[:SHOWN])
        return float(value)
