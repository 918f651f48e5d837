"""Checks whether the presets of a run fit each other, its device and what its figures show."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from nlobayes.errors import InputError
from nlobayes.study.grids import Grid, RunSpec
from nlobayes.study.network_checks import (
    MARGINALISED,
    check_architecture,
    check_infinite,
    check_marginalised,
    check_output_drawn,
)

CLASSES = "classes"
MOST_PARAMETERS = 4000
"""Above this number the matrix and its eigenvectors cost more than they save; as in each job."""
FEWER_FEATURES = {"chargino_invariants": 2, "chargino_pair_invariants": 5}
"""Number of columns minus number of features of a map; at most one for all other maps."""
WEIGHT = re.compile(r"(weights|biases|slopes)_(\d+)\[(.*)\]")
"""Name of a weight in a posterior file: its layer, from 1, and its indices."""


def check_run(run: RunSpec) -> None:
    """Refuse a run whose target, network, prior and likelihood do not form a model."""
    _check_target(run)
    _check_outputs(run)
    if run.network.has_slopes and run.prior.slopes is None:
        network, prior = run.names["network"], run.names["prior"]
        raise InputError("study.no_prior_of_slopes", network=network, prior=prior)
    _check_gibbs(run)
    _check_hyperparameters(run)
    _check_earlier(run)
    check_infinite(run)
    check_marginalised(run)
    check_output_drawn(run)
    check_architecture(run)
    _check_dense(run)
    _check_shown(run)


def check_grid(grid: Grid, run: RunSpec) -> None:
    """Refuse outputs that the run cannot have, and rivals that cannot be fitted or scored."""
    if grid.outputs == "prior" and run.prior.earlier is not None:
        raise InputError("study.draws_of_earlier", prior=run.names["prior"])
    if grid.outputs == "figures" and len(run.dataset.target.columns) > 1:
        raise InputError("study.figures_of_several_targets")
    _check_rivals(grid, run)


def _check_rivals(grid: Grid, run: RunSpec) -> None:
    """Refuse rivals for targets that they cannot learn, and in grids without scores."""
    if not grid.rivals:
        return
    targets, scale = run.dataset.target.columns, run.dataset.target.scale
    if len(targets) > 1 or scale == CLASSES:
        received = CLASSES if scale == CLASSES else f"{len(targets)} targets"
        dataset = run.names["dataset"]
        raise InputError("study.rivals_of_one_target", dataset=dataset, received=received)
    if grid.outputs in ("speed", "prior"):
        raise InputError("study.rivals_without_scores", outputs=grid.outputs)


def _check_earlier(run: RunSpec) -> None:
    if run.prior.earlier is None:
        return
    outputs = run.likelihood.outputs_for(len(run.dataset.target.columns))
    if outputs != 1 or run.dataset.target.scale == CLASSES:
        raise InputError("study.outputs_of_earlier", prior=run.names["prior"])


def _check_gibbs(run: RunSpec) -> None:
    if run.mcmc is None or run.mcmc.kernel.kind != "gibbs_hmc" or run.prior.is_conjugate:
        return
    raise InputError(
        "study.not_conjugate",
        method=run.names["method"],
        prior=run.names["prior"],
        kind=run.prior.kind,
    )


def _check_hyperparameters(run: RunSpec) -> None:
    """Refuse a search for hyperparameters of a model that learns none."""
    slopes = run.prior.slopes
    learns = run.prior.learns_hyperparameters or run.likelihood.learns_hyperparameters
    learns = learns or (slopes is not None and slopes.learns_hyperparameters)
    if run.method.moves_hyperparameters and not learns:
        raise InputError(
            "study.no_hyperparameters",
            method=run.names["method"],
            prior=run.names["prior"],
            likelihood=run.names["likelihood"],
        )


def _check_target(run: RunSpec) -> None:
    scale, of_classes = run.dataset.target.scale, run.likelihood.of_classes
    dataset, likelihood = run.names["dataset"], run.names["likelihood"]
    if of_classes and scale != CLASSES:
        raise InputError(
            "study.likelihood_of_classes", likelihood=likelihood, dataset=dataset, scale=scale
        )
    if scale == CLASSES and not of_classes:
        raise InputError("study.target_of_classes", dataset=dataset, likelihood=likelihood)
    export = run.evaluation.export
    if of_classes and "tolerance" in export.model_fields_set and export.tolerance is not None:
        where = f"evaluation.{run.names['evaluation']}.export.tolerance"
        raise InputError("study.tolerance_of_classes", where=where)


def _check_outputs(run: RunSpec) -> None:
    targets, given = len(run.dataset.target.columns), run.network.outputs
    if run.likelihood.of_one_column and targets > 1:
        raise InputError(
            "study.likelihood_of_one_target",
            likelihood=run.names["likelihood"],
            kind=run.likelihood.kind,
            dataset=run.names["dataset"],
            targets=targets,
        )
    needed = run.likelihood.outputs_for(targets)
    if None not in (given, needed) and given != needed:
        raise InputError(
            "study.outputs",
            network=run.names["network"],
            given=given,
            likelihood=run.names["likelihood"],
            needed=needed,
        )


def _check_dense(run: RunSpec) -> None:
    """Refuse a method with a dense curvature of more parameters than a job can hold.

    Raises InputError if the network has more parameters for any number of features that its map may
    make.
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


def _check_shown(run: RunSpec) -> None:
    """Refuse cases of classes, and weights of layers or units that the network does not have.

    Names of features, of the noise and of hyperparameters are checked later, with the posterior.

    Raises InputError if the run cannot have one of them.
    """
    shown, where = run.evaluation.figures, f"evaluation.{run.names['evaluation']}.figures"
    if shown.cases and run.dataset.target.scale == "classes":
        dataset = run.names["dataset"]
        raise InputError("study.cases_of_classes", where=f"{where}.cases", dataset=dataset)
    planes = (name for pair in shown.weight_planes for name in pair)
    for key, names in {"weight_planes": planes, "marginals": shown.marginals}.items():
        for name in names:
            if not _may_exist(name, run):
                raise InputError(
                    "study.no_such_weight",
                    where=f"{where}.{key}",
                    name=name,
                    network=run.names["network"],
                    hidden=run.network.hidden,
                    layers=len(run.network.hidden) + 1,
                )


def _may_exist(name: str, run: RunSpec) -> bool:
    found = WEIGHT.fullmatch(name.replace(" ", ""))
    if found is None:
        return "[" not in name
    kind, layer = found[1], int(found[2])
    given = list(_axes(kind, layer, run))
    places = found[3].rsplit(",", maxsplit=len(given) - 1)
    if not 1 <= layer <= len(run.network.hidden) + 1 or len(places) != len(given):
        return False
    return all(
        size is None or (place.isdecimal() and int(place) < size)
        for place, size in zip(places, given, strict=True)
    )


def _axes(kind: str, layer: int, run: RunSpec) -> Iterator[int | None]:
    """Yield the units along each axis of an array of a layer; None for features and outputs."""
    hidden = run.network.hidden
    if kind == "weights":
        yield hidden[layer - 2] if 1 < layer <= len(hidden) + 1 else None
    yield hidden[layer - 1] if 0 < layer <= len(hidden) else None
