"""Early check whether a run has few enough parameters for a dense curvature."""

from __future__ import annotations

from itertools import pairwise

from nlobayes.errors import InputError
from nlobayes.study.marginalised import MARGINALISED
from nlobayes.study.run import RunSpec

MOST_PARAMETERS = 4000
"""Above this number the matrix and its eigenvectors cost more than they save; as in each job."""
FEWER_FEATURES = {"chargino_invariants": 2, "chargino_pair_invariants": 5}
"""Number of columns minus number of features of a map; at most one for all other maps."""


def check_dense(run: RunSpec) -> None:
    """Refuse a method with a dense curvature of more parameters than a job can hold.

    Raises
    ------
    InputError
        If the network has more parameters for any number of features that its map may make.
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
    """Count the fewest weights and biases that a method can have."""
    read = run.dataset.features
    features = len(read.columns) - FEWER_FEATURES.get(read.map, 1)
    outputs = run.likelihood.outputs_for(len(run.dataset.target.columns)) or 1  # unknown classes
    integrated = run.network.output == MARGINALISED
    layers = (features, *run.network.hidden, *(() if integrated else (outputs,)))
    return sum((fan_in + 1) * fan_out for fan_in, fan_out in pairwise(layers))
