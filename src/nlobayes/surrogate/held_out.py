"""Errors of a surrogate at rows that it has not learned, from which thresholds follow.

An infinitely wide network may learn the held-out rows too. Each of these is then predicted given
all others. The network of the train rows alone would not do: it states larger errors, so that its
threshold accepts points of which the surrogate that knows all rows states too small ones.
"""

from __future__ import annotations

import numpy as np

from nlobayes.data.splits import TEST, TRAIN, VALIDATION
from nlobayes.surrogate import process
from nlobayes.surrogate.acceptance import relative_error, stated_error
from nlobayes.surrogate.domain import INSIDE
from nlobayes.surrogate.in_numpy import evaluator
from nlobayes.surrogate.network_outputs import one_by_one, output_of
from nlobayes.surrogate.reduction import spread_evenly
from nlobayes.surrogate.stored_facts import (
    facts_of_domain,
    fit_domain_of,
    limits_of,
    points_of_rows,
)
from nlobayes.surrogate.surrogate import Surrogate
from nlobayes.surrogate.theory import MEDIAN_AND_INTERVAL
from nlobayes.types import Dataset, SurrogateContent

MOST = 2000
"""Most held-out rows whose errors are stored."""
LARGEST = 1e30
"""Largest error that is stored, as files have no infinite numbers."""


def errors_of_held_out(
    exported: SurrogateContent, data: Dataset, learned: np.ndarray
) -> dict[str, np.ndarray]:
    """Return `stated` and actual relative `error` of the first target at held-out rows (row,).

    These are validation and test rows inside the domain of the train rows, at most `MOST` of them.
    """
    train, held_out = data.split == TRAIN, np.isin(data.split, (VALIDATION, TEST))
    rows = np.flatnonzero(held_out)[spread_evenly(int(held_out.sum()), MOST)]
    stated, error = errors_at(exported, data, learned, rows)
    domain = fit_domain_of(data, train)
    of_train = exported._replace(
        features=domain.features,
        spacing=domain.spacing,
        limits=limits_of(data, train),
        facts={**exported.facts, "domain": facts_of_domain(domain, data, train)},
    )
    counted = np.isfinite(stated) & (
        Surrogate(of_train).domain(points_of_rows(data, rows)) == INSIDE
    )
    return {
        name: values[counted].astype(np.float32)
        for name, values in {"stated": stated, "error": np.minimum(error, LARGEST)}.items()
        if counted.any()
    }


def errors_at(
    exported: SurrogateContent, data: Dataset, learned: np.ndarray, rows: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return stated and actual relative errors of the first target at rows (row,) of a dataset.

    `learned` (point,) marks the rows that the surrogate has learned. If it has learned all of these
    rows, each is predicted given all others; otherwise it must have learned none of them.
    """
    if learned[rows].all():
        activation, warp = process.stated(exported)
        f = process.without_own_row(activation, exported.variables, exported.rows, warp)
        f = f[:, np.cumsum(learned)[rows] - 1]
    else:
        f = evaluator(exported, "numpy")(data.features[rows])
    output, known = output_of(next(one_by_one(exported))), data.relative_to
    reference = None if known is None else known[rows]
    first = f.astype(np.float64).reshape(*f.shape[:2], -1)[..., 0]
    chunk = output.chunk(first, data.features[rows], reference)
    quantiles = output.quantiles(chunk, MEDIAN_AND_INTERVAL)
    observed = data.observed[rows].reshape(len(rows), -1)[:, 0]
    return stated_error(quantiles), relative_error(quantiles[0], observed)
