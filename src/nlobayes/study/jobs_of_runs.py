"""Specifications of jobs that read finished runs, or several runs at once."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from nlobayes.settings.values import Fraction, Frozen, PositiveInt, Seed
from nlobayes.study.jobs import ModelJob


class ReweightJob(Frozen):
    """Reweighting of a posterior to another prior or likelihood."""

    model: ModelJob
    target: ModelJob
    seed: Seed


class CondenseJob(Frozen):
    """Summary of the information of a posterior on f beyond its prior, at a few train rows."""

    model: ModelJob
    points: PositiveInt
    smallest_share: Fraction
    prior_draws: PositiveInt
    seed: Seed


class TimedMethod(Frozen):
    """A run, and the paths below `timings/` of all its jobs from the MAPs to the draws."""

    run: str
    timings: tuple[str, ...] = ()


class FidelityJob(Frozen):
    """Comparison of approximate posteriors with the exact one of the same model."""

    exact: TimedMethod
    approximations: Annotated[tuple[TimedMethod, ...], Field(min_length=1)]


class TimedRun(Frozen):
    """A network to time, and the number of leapfrog steps of a draw, or else its most gradients."""

    run: str
    model: ModelJob
    integration_steps: PositiveInt | None
    most_gradients: PositiveInt | None


class SpeedJob(Frozen):
    """Networks to time, one after another."""

    runs: tuple[TimedRun, ...]


class SummaryJob(Frozen):
    """Labels of the runs to summarise, by path, in the order of display."""

    runs: dict[str, str]


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
