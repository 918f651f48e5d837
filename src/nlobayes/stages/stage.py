"""What a command is, and what a stage of the pipeline is beyond that."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from nlobayes.stages.sizes import Size


@dataclass(frozen=True)
class Command:
    """A command: what it does, and the model of the specification that its results hold."""

    help: str
    job: str | None = None
    """Name of the model in a file of jobs or in `study.comparison`; none where options suffice."""


@dataclass(frozen=True, kw_only=True)
class Stage(Command):
    """A command of the pipeline, as its rule runs it."""

    unit: str
    """What one job is for: the wildcard that comes first in the paths of its outputs."""
    inputs: tuple[str, ...]
    """Patterns of the paths that it may read; `TABLE` also matches a table of the user."""
    outputs: tuple[str, ...]
    """Patterns of the paths that it writes, besides its record."""
    base_mb: int | None = None
    """Interpreter, libraries and compiler, with a third to a half as much again; none where its
    rule states what it needs."""
    numbers: Callable[[Size], float] = lambda size: 0
    """How many numbers it holds at once."""
    seconds: Callable[[Size], float] | None = None
    """Its work; where there is none it goes through its numbers."""
    on_gpu: bool = False
    """Whether it computes on the device of the study."""
    group: str | None = None
    """Stages of one group share a job of a cluster; none is alone."""

    @property
    def makes_results(self) -> bool:
        """Whether its outputs are results with a record, not timings."""
        return not all(path.startswith("timings/") for path in self.outputs)
