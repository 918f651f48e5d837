"""Answers to requests in blocks of points, so that a large request does not block small ones."""

import math
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from threading import Lock
from typing import Any

import numpy as np

from nlobayes.surrogate.answers import DOMAIN, REASON, SUMMARIES, located
from nlobayes.surrogate.surrogate import Scale, Surrogate
from nlobayes.surrogate.web.messages import Number

CELLS = 50_000
"""Predictions (draw, point) of one turn: 50 points of 1000 draws take 0.02 to 0.3 s."""


class Turns:
    """A fair lock: turns are given in the order of requests.

    A plain lock may be given to its last holder again.
    """

    def __init__(self) -> None:
        self._queue: deque[Lock] = deque()
        self._guard = Lock()

    @contextmanager
    def one(self) -> Iterator[None]:
        """Wait for a turn, and pass it on afterwards."""
        turn = Lock()
        turn.acquire()
        with self._guard:
            self._queue.append(turn)
            first = len(self._queue) == 1
        if not first:
            turn.acquire()
        try:
            yield
        finally:
            with self._guard:
                self._queue.popleft()
                if self._queue:
                    self._queue[0].release()


def answer(
    surrogate: Surrogate,
    points: np.ndarray,
    quantiles: Sequence[float],
    on: Scale,
    turns: Turns,
    given: Mapping[str, float] | None = None,
) -> dict[str, Any]:
    """Predict points, in blocks; numbers of those without a prediction are None.

    `given` has the values of fixed parameters, the same at every point, as in `Surrogate.domain`.
    """
    step = max(1, CELLS // surrogate.draws)
    parts: list[np.ndarray] = []
    errors: dict[str, list[np.ndarray]] = {}
    domain: list[str] = []
    reasons: list[str] = []
    for start in range(0, max(len(points), 1), step):
        part = points[start : start + step]
        with turns.one(), np.errstate(all="ignore"):
            predicted = surrogate.predict(part, quantiles=quantiles, on=on)
            where = located(surrogate, part, given)
            of_theory = surrogate.errors(part) if surrogate.theory else {}
        for name, error in of_theory.items():
            errors.setdefault(name, []).append(error)
        parts.append(
            np.stack([*(getattr(predicted, name) for name in SUMMARIES), *predicted.quantiles])
        )
        domain += where[DOMAIN].tolist()
        reasons += where[REASON].tolist()
    values = np.concatenate(parts, axis=1)
    columns = [[*map(number, column)] for column in values.tolist()]
    return {
        "target": surrogate.target,
        "unit": surrogate.units.get(surrogate.target, ""),
        "scale": surrogate.scale if on == "model" else "identity",
        **dict(zip(SUMMARIES, columns, strict=False)),
        "probabilities": [*quantiles],
        "quantiles": columns[len(SUMMARIES) :],
        "errors": {
            name: [*map(number, np.concatenate(each).tolist())] for name, each in errors.items()
        },
        "domain": domain,
        "reasons": reasons,
    }


def number(value: float) -> Number:
    """Return a finite number, or None for a number that JSON cannot represent."""
    return value if math.isfinite(value) else None
