"""Report of keys that a study gives by their names of the previous release."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from nlobayes.errors import one_line


@contextmanager
def reported_renamed_keys(where: str = "config") -> Iterator[None]:
    """Write one line to standard error for each renamed key, instead of Python's warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", FutureWarning)
        yield
    renamed_keys = [warning for warning in caught if issubclass(warning.category, FutureWarning)]
    for text in dict.fromkeys(str(warning.message) for warning in renamed_keys):
        sys.stderr.write(f"nlobayes: warning: {where}: {one_line(text)}\n")
    for warning in caught:
        if warning not in renamed_keys:
            warnings.warn_explicit(
                warning.message, warning.category, warning.filename, warning.lineno
            )
