"""Early check whether units and layers of a run can be drawn."""

from __future__ import annotations

from nlobayes.errors import InputError
from nlobayes.kernels.reversible_jump import ReversibleJumpKernel
from nlobayes.study.run import RunSpec

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
    if run.network.output == "marginalised" or run.network.has_slopes:
        raise InputError("study.jumps_of_network", network=network)
    if run.pretraining.start == "he":
        raise InputError(
            "study.jumps_of_start", network=network, pretraining=run.names["pretraining"]
        )
    if run.likelihood.kind == "heteroscedastic":
        raise InputError(
            "study.jumps_of_likelihood", network=network, likelihood=run.names["likelihood"]
        )
