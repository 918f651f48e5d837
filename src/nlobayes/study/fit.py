"""Whether the pieces of a run fit each other."""

from __future__ import annotations

from nlobayes.study.marginalised import check_marginalised
from nlobayes.study.presets import Grid
from nlobayes.study.run import RunSpec

CLASSES = "classes"


def check_run(run: RunSpec) -> None:
    """Refuse a run whose target, network, prior and likelihood cannot be one model."""
    _check_target(run)
    _check_outputs(run)
    if run.network.has_slopes and run.prior.slopes is None:
        raise ValueError(
            f"network {run.names['network']!r} has slopes that are trained, prior "
            f"{run.names['prior']!r} states none; give it `slopes: {{kind: exponential}}`, or "
            "choose another activation"
        )
    _check_gibbs(run)
    _check_memory(run)
    check_marginalised(run)


def check_grid(grid: Grid, run: RunSpec) -> None:
    """Refuse figures of what has none."""
    if grid.outputs == "prior" and run.prior.memory is not None:
        raise ValueError(
            f"prior {run.names['prior']!r} has a memory, which nothing can draw from; ask for the "
            "prior without it"
        )
    if grid.outputs == "figures" and len(run.dataset.target.columns) > 1:
        raise ValueError(
            "a run of several targets ends with its scores; give the grid `outputs: metrics`"
        )


def _check_memory(run: RunSpec) -> None:
    if run.prior.memory is None:
        return
    outputs = run.likelihood.outputs(len(run.dataset.target.columns))
    if outputs != 1 or run.dataset.target.scale == CLASSES:
        raise ValueError(
            f"prior {run.names['prior']!r} has a memory, which is of one output; learn one column "
            "of numbers, with a likelihood that has no output of its own"
        )


def _check_gibbs(run: RunSpec) -> None:
    if run.mcmc is None or run.mcmc.kernel.kind != "gibbs_hmc" or run.prior.is_conjugate:
        return
    raise ValueError(
        f"sampler {run.names['method']!r} has kernel gibbs_hmc, which draws conjugate "
        f"hyperparameters; prior {run.names['prior']!r} of kind {run.prior.kind} has none: use "
        "kernel hmc, or a prior of kind tensorbnn, or of kind hierarchical with hyper "
        "gamma_precision or half_cauchy"
    )


def _check_target(run: RunSpec) -> None:
    scale, likelihood = run.dataset.target.scale, run.names["likelihood"]
    of_classes = run.likelihood.of_classes
    if of_classes and scale != CLASSES:
        raise ValueError(
            f"likelihood {likelihood!r} is of classes, target.scale of dataset "
            f"{run.names['dataset']!r} is {scale!r}; make that `classes`, or choose a likelihood "
            "of numbers, as kind: gaussian"
        )
    if scale == CLASSES and not of_classes:
        raise ValueError(
            f"the target of dataset {run.names['dataset']!r} is classes, likelihood "
            f"{likelihood!r} is of numbers; choose one of kind categorical or bernoulli"
        )


def _check_outputs(run: RunSpec) -> None:
    targets, given = len(run.dataset.target.columns), run.network.outputs
    if run.likelihood.of_one_column and targets > 1:
        raise ValueError(
            f"likelihood {run.names['likelihood']!r} is {run.likelihood.kind} in one target, "
            f"dataset {run.names['dataset']!r} has {targets}; learn one column, or another "
            "likelihood"
        )
    needed = run.likelihood.outputs(targets)
    if None not in (given, needed) and given != needed:
        raise ValueError(
            f"network {run.names['network']!r} has outputs: {given}, likelihood "
            f"{run.names['likelihood']!r} needs {needed}; leave `outputs` out"
        )
