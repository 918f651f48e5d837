"""Which approximate posteriors a grid holds against an exact one of the same model and seed."""

from __future__ import annotations

from collections.abc import Iterable

from nlobayes.study.jobs_of_runs import FidelityJob, TimedMethod
from nlobayes.study.run import RunSpec


def fidelity_jobs(runs: Iterable[RunSpec]) -> dict[str, FidelityJob]:
    """Give `fidelity` the runs to compare, by the path of each model that runs of a grid share.

    The first method of chains is the exact one; a model without it, or without an approximation,
    has nothing to compare.
    """
    by_model: dict[str, list[RunSpec]] = {}
    for run in runs:
        by_model.setdefault(run.model_id, []).append(run)
    found = {model: _job(alike) for model, alike in by_model.items()}
    return {model: job for model, job in found.items() if job is not None}


def _job(runs: Iterable[RunSpec]) -> FidelityJob | None:
    chains: list[TimedMethod] = []
    others: list[TimedMethod] = []
    for run in runs:
        (others if run.method.approximate else chains).append(_timed(run))
    if not (chains and others):
        return None
    return FidelityJob(exact=chains[0], approximations=tuple(others))


def _timed(run: RunSpec) -> TimedMethod:
    """List the timings of all jobs from the MAPs to the draws, as paths below `timings/`."""
    starts, stage = {*run.starts} if run.method.starts_at_maps else (), run.method.stage
    maps = [f"pretrain/{run.model_id}/{start}.tsv" for start in sorted(starts)]
    jobs = [f"{stage}/{run.run_id}.tsv"] if run.mcmc is None else _jobs_of_chains(run)
    return TimedMethod(run=run.run_id, timings=(*maps, *jobs))


def _jobs_of_chains(run: RunSpec) -> list[str]:
    assert run.mcmc is not None
    counts = {"warmup": run.mcmc.warmup.segments, "draw": run.mcmc.segments}
    return [
        f"{verb}/{run.run_id}/{chain_group}/{segment}.tsv"
        for verb, segments in counts.items()
        for chain_group in range(len(run.chain_groups))
        for segment in range(segments)
    ]
