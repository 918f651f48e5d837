"""Checks whether the presets of a run fit each other."""

from __future__ import annotations

from nlobayes.errors import InputError
from nlobayes.study.architecture import check_architecture
from nlobayes.study.dense import check_dense
from nlobayes.study.marginalised import check_marginalised, check_output_drawn
from nlobayes.study.presets import Grid
from nlobayes.study.run import RunSpec
from nlobayes.study.shown import check_shown

CLASSES = "classes"


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
    check_marginalised(run)
    check_output_drawn(run)
    check_architecture(run)
    check_dense(run)
    check_shown(run)


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
