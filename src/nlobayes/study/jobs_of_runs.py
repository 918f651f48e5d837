"""Specifications of jobs that read finished runs, or several runs at once."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from nlobayes.study.jobs import ModelJob
from nlobayes.study.values import Fraction, Frozen, PositiveInt, Seed


class ReweightJob(Frozen):
    """A posterior moved to another prior or likelihood."""

    model: ModelJob
    target: ModelJob
    seed: Seed


class CondenseJob(Frozen):
    """What a posterior knows of f beyond its prior, at a few train rows."""

    model: ModelJob
    points: PositiveInt
    smallest_share: Fraction
    prior_draws: PositiveInt
    seed: Seed


class TimedMethod(Frozen):
    """A run, and the timings of all its jobs from the MAPs to the draws, below `timings/`."""

    run: str
    timings: tuple[str, ...] = ()


class FidelityJob(Frozen):
    """Approximate posteriors, and the exact one of the same model that they are compared with."""

    exact: TimedMethod
    approximations: Annotated[tuple[TimedMethod, ...], Field(min_length=1)]


class TimedRun(Frozen):
    """A network to time, and the leapfrog steps of one draw, or else the most gradients of one."""

    run: str
    model: ModelJob
    integration_steps: PositiveInt | None
    most_gradients: PositiveInt | None


class SpeedJob(Frozen):
    """Networks to time one after another."""

    runs: tuple[TimedRun, ...]


class SummaryJob(Frozen):
    """Runs to summarise, by their paths: the label of each, in the order to show them."""

    runs: dict[str, str]
