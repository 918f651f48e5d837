"""The definitions of a command, of a stage of the pipeline, and of the places of its files."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from nlobayes.stages.job_size import Size

FAILURE = "failure"
"""Column of a chunk of points: why a point has no result; empty where it has one."""


class Place(StrEnum):
    """Patterns of the paths of files, by their kind or by the parameter of stages that read them.

    `TABLE` also matches a table of the user.
    """

    TABLE = "results/tables/{dataset}.parquet"
    POINTS = "results/points/{dataset}/design.parquet"
    CHUNK = "results/points/{dataset}/{chunk}.parquet"
    DATASET = "results/data/{dataset}.nc"
    START = "results/pretrain/{model}/{chain}.nc"
    WARMUP = "results/chains/{run}/{chain_group}/warmup_{segment}.nc"
    SEGMENT = "results/chains/{run}/{chain_group}/segment_{segment}.nc"
    VERDICT = "results/chains/{run}/verdict_{segment}.json"
    POSTERIOR = "results/posterior/{run}.nc"
    THINNED = "results/thinned/{run}.nc"
    SURROGATE = "results/surrogates/{run}.nc"
    ROUND = "results/rounds/{dataset}.json"
    RIVAL = "results/rivals/{dataset}/{rival}.nc"
    PREDICTIONS = "results/predictions/{run}.nc"
    DIAGNOSTICS = "results/metrics/{run}/diagnostics.json"
    EVALUATION = "results/metrics/{run}/evaluation.json"


@dataclass(frozen=True)
class Command:
    """A command: its purpose, and the model of the specification that its results store."""

    help: str
    job: str | None = None
    """Name of the model in a file of jobs or in `study.comparison`; None if options suffice."""
    example: str = ""
    """A command line that calls it."""


@dataclass(frozen=True, kw_only=True)
class Stage(Command):
    """A command of the pipeline, with the resources of its rule."""

    inputs: tuple[str, ...] | None = None
    """Patterns of the paths that it may read; None if the parameters of its function tell them."""
    outputs: tuple[str, ...]
    """Patterns of the paths that it writes, besides its record."""
    base_mb: int | None = None
    """Memory of interpreter, libraries and compiler, with a margin of a third to a half; None if
    the rule of the stage states its memory."""
    numbers: Callable[[Size], float] = lambda size: 0
    """Numbers that it holds at once."""
    seconds: Callable[[Size], float] | None = None
    """Its time in seconds; None if the time follows from its numbers."""
    on_gpu: bool = False
    """Whether it computes on the device of the study."""
    group: str | None = None
    """Stages of one group share a job of a cluster; None stands for a separate job."""

    @property
    def unit(self) -> str:
        """Unit of one job: the first wildcard in the paths of its outputs."""
        return self.outputs[0].partition("{")[2].partition("}")[0]

    @property
    def makes_results(self) -> bool:
        """Whether its outputs are results with a record, not timings."""
        return not all(path.startswith("timings/") for path in self.outputs)
