"""Whether the output layer of a run can be integrated out: refused before anything runs."""

from __future__ import annotations

from nlobayes.errors import InputError
from nlobayes.study.run import RunSpec

MARGINALISED = "marginalised"
MOST_MB = 4000
"""Most memory that a gradient of one chain may take."""
COPIES = 6
"""Matrices of rows and units that a gradient holds at once."""
CHUNK_NUMBERS, CHUNK_ROWS = 300_000, 512
"""Numbers of such a matrix in a chunk of rows, and the fewest rows of a chunk."""
NUMBER_BYTES = 8


def check_marginalised(run: RunSpec) -> None:
    """Refuse a run whose output layer is to be integrated out and cannot be.

    Raises
    ------
    InputError
        If it cannot.
    """
    if run.network.output != MARGINALISED:
        return
    names, targets = run.names, len(run.dataset.target.columns)
    if not run.likelihood.is_gaussian:
        raise InputError("study.marginalised_noise", kind=run.likelihood.kind, **names)
    if targets > 1:
        raise InputError("study.marginalised_targets", targets=targets, **names)
    if not run.prior.output_is_gaussian:
        raise InputError("study.marginalised_prior", kind=run.prior.kind, **names)
    if run.prior.memory is not None:
        raise InputError("study.marginalised_memory", **names)
    if not run.network.hidden:
        raise InputError("study.marginalised_linear", **names)
    if run.precision != "float64":
        raise InputError("study.marginalised_precision", precision=run.precision, **names)
    if run.execution.shards > 1:
        raise InputError("study.marginalised_shards", shards=run.execution.shards, **names)
    _check_memory(run)


def marginal_numbers(units: int, train: int) -> int:
    """Count the numbers that a gradient holds for so many units and train rows."""
    smaller = min(units + 1, train)
    chunk = max(CHUNK_NUMBERS, CHUNK_ROWS * units)
    rows = train * units if train <= units else min(train * units, chunk)
    return COPIES * rows + 3 * smaller**2


def _check_memory(run: RunSpec) -> None:
    units, share = run.network.hidden[-1], run.dataset.split.train
    train = int(share) if share >= 1 else units
    needed = marginal_numbers(units, train) * NUMBER_BYTES // 10**6
    if needed > MOST_MB:
        raise InputError(
            "study.marginalised_units",
            units=units,
            needed=needed,
            most=MOST_MB,
            **run.names,
        )
