"""Whether a run has few enough parameters for a dense curvature: refused before anything runs."""

from __future__ import annotations

from itertools import pairwise

from nlobayes.errors import InputError
from nlobayes.study.marginalised import MARGINALISED
from nlobayes.study.run import RunSpec

MOST_PARAMETERS = 4000
"""Beyond this the matrix and its eigenvectors cost more than they save; as in each job."""
FEWER_FEATURES = {"chargino_invariants": 2, "chargino_pair_invariants": 5}
"""So many features fewer than it reads columns a map makes; of others it is at most one."""


def check_dense(run: RunSpec) -> None:
    """Refuse a method with a dense curvature of more parameters than a job takes.

    Raises
    ------
    InputError
        If the network has more, whatever its feature map makes.
    """
    if not run.method.has_dense_curvature:
        return
    parameters = fewest_parameters(run)
    if parameters > MOST_PARAMETERS:
        raise InputError(
            "study.dense_curvature",
            method=run.names["method"],
            network=run.names["network"],
            parameters=parameters,
            most=MOST_PARAMETERS,
        )


def fewest_parameters(run: RunSpec) -> int:
    """Count the weights and biases that a method moves, at least."""
    read = run.dataset.features
    features = len(read.columns) - FEWER_FEATURES.get(read.map, 1)
    outputs = run.likelihood.outputs(len(run.dataset.target.columns)) or 1  # of classes not known
    integrated = run.network.output == MARGINALISED
    layers = (features, *run.network.hidden, *(() if integrated else (outputs,)))
    return sum((fan_in + 1) * fan_out for fan_in, fan_out in pairwise(layers))
