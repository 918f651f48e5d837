"""Where the result of a program is: the members of the family of its outputs.

All read a text, which is the standard output of the program or a file that it writes.
"""

from __future__ import annotations

import math
import re
from abc import abstractmethod
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from nlobayes.errors import InputError
from nlobayes.exchange.inputs import FileName
from nlobayes.settings.members import one_of_kinds, settings_of
from nlobayes.settings.values import Choice

NUMBER = re.compile(
    r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eEdD][+-]?[0-9]+)?|[+-]?(nan|inf)(inity)?", re.I
)
"""Number as C, Python or Fortran write it, such as 1.5e-3 or 1.5D-03."""
SHOWN = 60
"""Most characters of a text in a reason."""


class OutputSettings(Choice):
    """Settings of an output; each kind is in a file of `exchange/outputs/`."""

    file: FileName | None = None
    """File that the program writes; by default its standard output is read."""
    column: Annotated[str, Field(min_length=1)]
    """Column of the table that holds the result, such as `sigma`."""
    unit: str
    """Unit in which the program states the result, such as `pb`; empty for a number without one."""
    above: Annotated[float | None, Field(allow_inf_nan=False)] = None
    """A result must be larger than this, as `0` for cross sections, or the point has failed."""

    def read(self, text: str) -> float:
        """Read the result from a text.

        Raises InputError if it has none, has several, or the number is not finite or too small.
        """
        value = self.found(text)
        if not math.isfinite(value):
            raise InputError("programs.not_finite", value=value)
        if self.above is not None and value <= self.above:
            raise InputError("programs.not_above", value=value, above=self.above)
        return value

    @abstractmethod
    def found(self, text: str) -> float:
        """Find the one number in a text; errors as for `read`, without limits of the number."""


def number_of(word: str) -> float:
    """Read a number as programs write it; exponents of Fortran are allowed.

    Raises InputError if the word is no number.
    """
    if not NUMBER.fullmatch(word.strip()):
        raise InputError("programs.no_number", received=word.strip()[:SHOWN])
    return float(re.sub("[dD](?=[+-]?[0-9])", "e", word.strip()))


OUTPUTS = settings_of(__name__, __file__, OutputSettings)

if TYPE_CHECKING:
    Output = OutputSettings
else:
    Output = one_of_kinds(OUTPUTS.values())
