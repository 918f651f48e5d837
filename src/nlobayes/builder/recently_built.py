"""Reuse of the last results of a build, for jobs of one process that build the same.

PyMC and PyTensor need seconds for the graphs of a model. In `nlobayes fit` and the estimators, the
jobs of all chains share one process, or one for each worker. A second recipe may follow the first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import numpy as np

P = ParamSpec("P")
T = TypeVar("T")


KEPT = 2


def keep_recent(build: Callable[P, T]) -> Callable[P, T]:
    """Return one of the last results again if all arguments have the same contents.

    Nobody may change an argument or a result in place. A user's function counts by the digest of
    its file, which the job states.
    """
    recent: list[tuple[Any, T]] = []

    @wraps(build)
    def build_or_reuse(*args: P.args, **options: P.kwargs) -> T:
        given = (args, options)
        found = next((one for one in recent if _same(one[0], given)), None)
        if found is None:
            found = (given, build(*args, **options))
            recent[:] = [*recent[1 - KEPT :], found]
        return found[1]

    return build_or_reuse


def _same(one: Any, other: Any) -> bool:
    """Compare contents, those of arrays byte by byte."""
    if type(one) is not type(other):
        return False
    if isinstance(one, np.ndarray):
        alike = (one.shape, one.dtype) == (other.shape, other.dtype)
        return alike and one.tobytes() == other.tobytes()
    if isinstance(one, Mapping):
        return _same([*one.items()], [*other.items()])
    if isinstance(one, tuple | list):
        return len(one) == len(other) and all(map(_same, one, other))
    return bool(one == other)
