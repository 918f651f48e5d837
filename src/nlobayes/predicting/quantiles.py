"""The option `--quantiles`."""

from __future__ import annotations

from nlobayes.errors import InputError
from nlobayes.surrogate.answers import quantile_names

OPTION = "--quantiles"


def probabilities_of(text: str) -> tuple[float, ...]:
    """Read probabilities that are separated by commas.

    Raises InputError if one is no number, is not between 0 and 1, or occurs twice.
    """
    try:
        found = tuple(float(part) for part in text.split(",") if part.strip())
    except ValueError:
        raise InputError("commands.no_numbers", where=OPTION, text=text) from None
    quantile_names(found)
    return found
