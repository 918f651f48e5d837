"""Points of a request that are accepted, and a program that computes the others."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from nlobayes.errors import InputError
from nlobayes.surrogate.acceptance import Threshold
from nlobayes.surrogate.surrogate import Surrogate
from nlobayes.untyped import Document

if TYPE_CHECKING:
    from nlobayes.programs.otherwise import Otherwise

MOST_COMPUTED = 100
"""Most points of a request that the program computes; others are answered by the surrogate."""
OF_ERRORS = ("posterior_sd", "total_sd")


def threshold_of(surrogate: Surrogate, max_error: float) -> tuple[Threshold | None, str]:
    """Return the threshold of a largest error, if any, and what it guarantees or why not."""
    try:
        found = surrogate.threshold(max_error)
    except InputError as error:
        return None, str(error)
    return found, found.in_words(max_error)


def compute_others(
    content: Document, points: np.ndarray, otherwise: Otherwise, inputs: tuple[str, ...]
) -> None:
    """Replace answers of points (point, input) that are not accepted by results of the program.

    Where it fails, they are null, and the reason says why.
    """
    content["source"] = ["surrogate"] * len(points)
    wanted = ~np.array(content["accepted"], bool) & np.isfinite(points).all(axis=1)
    rows = np.flatnonzero(wanted)[:MOST_COMPUTED]
    if not len(rows):
        return
    errors = [*(content[name] for name in OF_ERRORS), *content["quantiles"]]
    errors += content["errors"].values()
    made = otherwise.compute(dict(zip(inputs, points[rows].T, strict=True)))
    for row, value, reason in zip(rows.tolist(), made.values.tolist(), made.reasons, strict=True):
        content["source"][row] = "program"
        content["mean"][row] = content["median"][row] = None if reason else value
        content["reasons"][row] = reason or content["reasons"][row]
        for each in (
            *(content[n] for n in OF_ERRORS),
            *content["quantiles"],
            *content["errors"].values(),
        ):
            each[row] = None
