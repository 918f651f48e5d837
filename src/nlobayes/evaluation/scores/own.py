"""Custom scores: functions of the user."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from numbers import Real
from typing import Any, NamedTuple

from nlobayes.errors import InputError, one_line


class OwnScores(NamedTuple):
    """Functions of the user by the names of their scores, and the split that they score."""

    functions: Mapping[str, Callable[[Any], Any]] = {}
    place: str = "these points"

    def of(self, split: Any) -> dict[str, float | str]:
        """Score a split, like the modules of the folders `regression` and `classification`.

        Each function that samples has its own random numbers.

        Raises InputError if a function raises, or gives neither a finite number nor a line of text.
        """
        return {name: self._score(name, each, split) for name, each in self.functions.items()}

    def _score(self, name: str, function: Callable[[Any], Any], split: Any) -> float | str:
        if hasattr(split, "rng"):
            split = split._replace(rng=split.rng.spawn(1)[0])
        try:
            return _checked(function(split))
        except InputError as error:
            raise error.within(f"score {name} of {self.place}") from error


NO_OWN = OwnScores()


def _checked(found: Any) -> float | str:
    if isinstance(found, str) and found.strip():
        return one_line(found, 200)
    is_number = isinstance(found, Real) or getattr(found, "shape", None) == ()
    if is_number and math.isfinite(float(found)):
        return float(found)
    shape = getattr(found, "shape", ())
    received = f"an array of shape {shape}" if shape else one_line(repr(found), 100)
    raise InputError("evaluation.own_score", received=received)
