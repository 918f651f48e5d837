"""Early check whether the output layer of a run can be integrated out."""

from __future__ import annotations

from nlobayes.errors import InputError
from nlobayes.study.run import RunSpec

MARGINALISED = "marginalised"
MOST_MB = 4000
"""Most memory that a gradient of one chain may take."""
COPIES = 6
"""Matrices of rows and units that a gradient holds at once."""
CHUNK_NUMBERS, CHUNK_ROWS = 300_000, 512
"""Numbers of such a matrix in a chunk of rows, and the fewest rows in a chunk."""
NUMBER_BYTES = 8


def check_marginalised(run: RunSpec) -> None:
    """Refuse a run with a marginalised output layer that cannot be integrated out.

    Raises InputError if it cannot be integrated out.
    """
    if run.network.output != MARGINALISED:
        return
    network, targets = run.names["network"], len(run.dataset.target.columns)
    if not run.method.draws_networks:
        raise InputError(
            "study.marginalised_linearised", network=network, method=run.names["method"]
        )
    if not run.likelihood.is_gaussian:
        likelihood, kind = run.names["likelihood"], run.likelihood.kind
        raise InputError(
            "study.marginalised_noise", network=network, likelihood=likelihood, kind=kind
        )
    if targets > 1:
        dataset = run.names["dataset"]
        raise InputError(
            "study.marginalised_targets", network=network, dataset=dataset, targets=targets
        )
    if not run.network.hidden:
        raise InputError("study.marginalised_linear", network=network)
    _check_prior(run, network)
    _check_batches(run, network)
    _check_machine(run, network)


def check_output_drawn(run: RunSpec) -> None:
    """Refuse a method that draws the output layer exactly if it is not conditionally Gaussian.

    Raises InputError if a condition is not met; the error names all that are not.
    """
    if not run.method.draws_output:
        return
    needed = {
        "a gaussian likelihood": run.likelihood.is_gaussian,
        "one target": len(run.dataset.target.columns) == 1,
        "a hidden layer": bool(run.network.hidden),
        "a prior whose output layer is Gaussian given its scales": run.prior.output_is_gaussian,
        "no earlier data": run.prior.earlier is None,
        "precision: float64": run.precision == "float64",
        "execution.shards: 1": run.execution.shards == 1,
    }
    missing = [name for name, there in needed.items() if not there]
    if missing:
        raise InputError("study.draws_output", method=run.names["method"], missing=missing)


def _check_prior(run: RunSpec, network: str) -> None:
    prior, kind = run.names["prior"], run.prior.kind
    if not run.prior.output_is_gaussian:
        raise InputError("study.marginalised_prior", network=network, prior=prior, kind=kind)
    if run.prior.earlier is not None:
        raise InputError("study.marginalised_earlier", network=network, prior=prior)


def _check_batches(run: RunSpec, network: str) -> None:
    pretraining, batch = run.names["pretraining"], run.pretraining.batch
    if batch != "full":
        raise InputError(
            "study.marginalised_batches", network=network, pretraining=pretraining, batch=batch
        )
    if run.method.takes_minibatches:
        raise InputError("study.sum_over_rows", method=run.names["method"], network=network)


def _check_machine(run: RunSpec, network: str) -> None:
    precision, shards = run.precision, run.execution.shards
    if precision != "float64":
        raise InputError("study.marginalised_precision", network=network, precision=precision)
    if shards > 1:
        raise InputError("study.marginalised_shards", network=network, shards=shards)
    units, share = run.network.hidden[-1], run.dataset.split.train
    train = int(share) if share >= 1 else units
    needed = marginal_numbers(units, train) * NUMBER_BYTES // 10**6
    if needed > MOST_MB:
        raise InputError(
            "study.marginalised_units", network=network, units=units, needed=needed, most=MOST_MB
        )


def marginal_numbers(units: int, train: int) -> int:
    """Count the numbers that a gradient holds for a number of units and of train rows."""
    smaller = min(units + 1, train)
    chunk = max(CHUNK_NUMBERS, CHUNK_ROWS * units)
    rows = train * units if train <= units else min(train * units, chunk)
    return COPIES * rows + 3 * smaller**2
