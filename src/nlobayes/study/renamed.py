"""Keys that a study gives by the name of the release before: a line names the new key."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from nlobayes.errors import one_line


@contextmanager
def reported_renamed_keys(where: str = "config") -> Iterator[None]:
    """Write a line on standard error for each renamed key, in place of Python's warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", FutureWarning)
        yield
    told = [each for each in caught if issubclass(each.category, FutureWarning)]
    for text in dict.fromkeys(str(each.message) for each in told):
        sys.stderr.write(f"nlobayes: warning: {where}: {one_line(text)}\n")
    for each in caught:
        if each not in told:
            warnings.warn_explicit(each.message, each.category, each.filename, each.lineno)
