"""Early checks of networks of infinite width, marginalised output or varying sizes."""

from __future__ import annotations

from nlobayes.errors import InputError
from nlobayes.kernels.reversible_jump import ReversibleJumpKernel
from nlobayes.priors.scales import ScalesPrior
from nlobayes.study.grids import RunSpec

MOST_TRAIN = 5000
"""Most train rows: the covariance of 5000 rows and its inverse take 600 MB, a factorisation 5 s."""


def check_infinite(run: RunSpec) -> None:
    """Refuse a run whose network is infinitely wide and does not fit its other presets.

    Raises InputError if a condition is not met; the error names all that are not.
    """
    if run.network.width is None:
        return
    network, split = run.names["network"], run.dataset.split
    needed = {
        "a prior of kind scales": isinstance(run.prior, ScalesPrior),
        "a gaussian likelihood with one sigma": run.likelihood.is_gaussian,
        "a method of kind mcmc": run.mcmc is not None,
        "no earlier data": run.prior.earlier is None,
        "output: sampled, without units and layers": run.network.output == "sampled"
        and not run.network.varies,
        "pretraining with batch: full": run.pretraining.batch == "full",
        "pretraining with another start than he": run.pretraining.start != "he",
        "precision: float64": run.precision == "float64",
        "execution.shards: 1": run.execution.shards == 1,
        f"split.train: {MOST_TRAIN} or fewer rows": split.train <= MOST_TRAIN,
    }
    missing = [name for name, there in needed.items() if not there]
    if missing:
        raise InputError("study.infinite_needs", network=network, missing=missing)


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


KERNEL = "reversible_jump"
"""The kernel that draws the architecture."""
PRIORS = ("fan_in", "gaussian", "laplace", "student_t", "cauchy", "hierarchical", "relevance")
"""Priors whose arrays are one entry per weight."""
RELU = "relu"
MOVES = {"units": ("prior", "conditional", "split"), "layers": ("prior", "conditional", "identity")}
"""Moves of a jump that change the number of units, and those that change that of layers."""


def check_architecture(run: RunSpec) -> None:
    """Refuse a run whose drawn units or layers do not fit its other presets.

    Raises InputError if they cannot be drawn, or need not be.
    """
    network, method = run.names["network"], run.names["method"]
    jumps = run.mcmc is not None and run.mcmc.kernel.kind == KERNEL
    if not run.network.varies:
        if jumps:
            raise InputError("study.nothing_varies", network=network, method=method)
        if run.pretraining.start_sizes:
            pretraining = run.names["pretraining"]
            raise InputError("study.start_sizes_fixed", pretraining=pretraining, network=network)
        return
    if not jumps:
        raise InputError("study.varies_without_jumps", network=network, method=method)
    _check_ranges(run, network)
    _check_moves(run, network)
    _check_model(run, network)


def _check_ranges(run: RunSpec, network: str) -> None:
    hidden, units, layers = run.network.hidden, run.network.units, run.network.layers
    if units is not None and layers is not None:
        raise InputError("study.units_and_layers", network=network)
    most = min(hidden, default=0) if units is not None else len(hidden)
    count, what = (units, "units") if units is not None else (layers, "layers")
    assert count is not None
    if count.fewest >= most:
        raise InputError(
            "study.nothing_to_choose", network=network, what=what, fewest=count.fewest, most=most
        )
    beyond = [size for size in run.pretraining.start_sizes if not count.fewest <= size <= most]
    if beyond:
        raise InputError(
            "study.start_sizes",
            network=network,
            pretraining=run.names["pretraining"],
            sizes=beyond,
            what=what,
            fewest=count.fewest,
            most=most,
        )
    if layers is not None and (len(set(hidden)) > 1 or run.network.activation != RELU):
        raise InputError(
            "study.layers_of_others",
            network=network,
            hidden=hidden,
            activation=run.network.activation,
        )


def _check_moves(run: RunSpec, network: str) -> None:
    """Refuse moves if none of them changes the number that varies."""
    assert run.mcmc is not None
    what = "units" if run.network.units is not None else "layers"
    assert isinstance(run.mcmc.kernel, ReversibleJumpKernel)
    given = run.mcmc.kernel.moves
    if not set(given) & set(MOVES[what]):
        raise InputError(
            "study.moves_of_others",
            method=run.names["method"],
            network=network,
            what=what,
            given=given,
            known=MOVES[what],
        )


def _check_model(run: RunSpec, network: str) -> None:
    prior, kind = run.names["prior"], run.prior.kind
    if kind not in PRIORS or run.prior.earlier is not None:
        raise InputError(
            "study.jumps_of_prior", network=network, prior=prior, kind=kind, known=PRIORS
        )
    network_alone = run.network.has_slopes or run.network.has_own_layer
    if run.network.output == "marginalised" or network_alone:
        raise InputError("study.jumps_of_network", network=network)
    if run.pretraining.start in ("he", "standard_normal"):
        raise InputError(
            "study.jumps_of_start",
            network=network,
            pretraining=run.names["pretraining"],
            start=run.pretraining.start,
        )
    if run.likelihood.kind == "heteroscedastic":
        raise InputError(
            "study.jumps_of_likelihood", network=network, likelihood=run.names["likelihood"]
        )
