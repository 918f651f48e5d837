"""Planned numbers of chains and draws of runs, for the command `watch`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from nlobayes.settings.values import Frozen
from nlobayes.study.run import RunSpec


class WatchedRun(Frozen):
    """Planned length of a run; a run without chains has no chain groups."""

    run: str
    """Path of the run below `results/chains`."""
    model: str
    """Path of its MAPs below `results/pretrain`."""
    label: str
    chain_groups: tuple[int, ...] = ()
    """Number of chains of each group."""
    maps: int = 0
    warmup_steps: int = 0
    """Steps of the whole warm-up."""
    segments: int = 0
    draws_per_segment: int = 0


class WatchJob(Frozen):
    """Runs to watch, in the order of display."""

    runs: tuple[WatchedRun, ...]


def watch_job(runs: Iterable[RunSpec], labels: Mapping[str, str]) -> WatchJob:
    """Build the job of `watch` with the planned lengths of the labelled runs, in their order."""
    known = {run.run_id: run for run in runs}
    return WatchJob(runs=tuple(_watched(known[path], labels[path]) for path in labels))


def _watched(run: RunSpec, label: str) -> WatchedRun:
    watched = WatchedRun(run=run.run_id, model=run.model_id, label=label, maps=len({*run.starts}))
    if run.mcmc is None:
        return watched
    return watched.model_copy(
        update={
            "chain_groups": tuple(len(chains) for chains in run.chain_groups),
            "warmup_steps": run.mcmc.warmup.steps,
            "segments": run.mcmc.segments,
            "draws_per_segment": run.mcmc.draws_per_segment,
        }
    )
