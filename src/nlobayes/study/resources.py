"""What a job needs of a machine: memory and time from the sizes of its data, model and chains.

Memory is what a program takes before any data and the numbers that the stage holds at once. Time
is a start and the work: gradients of all train rows, or numbers gone through. Each stage states its
own (`nlobayes.stages`). Both are bounds with room for a slow node, and calibrated on what Snakemake
recorded (`docs/cluster.md`); every further attempt of a job asks for as much again.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import pairwise
from typing import Any, NamedTuple

from nlobayes.stages import PIPELINE
from nlobayes.stages.sizes import CELL_SECONDS, GRADIENT_SECONDS, Size, gradient_seconds
from nlobayes.study.grid import RunSpec
from nlobayes.study.jobs import PRIOR_DRAWS
from nlobayes.study.presets import DatasetPreset
from nlobayes.study.sources import SimulatedSource, SlhaSource, ToySource

TOY_ROWS = 2500
"""No toy problem has more."""
UNKNOWN_ROWS = 100_000
"""Rows of a table that is not there yet."""
CLASSES = 10
"""Taken for the number of classes where a network does not say it."""
BYTES_PER_VALUE = 4
"""Fewest bytes that a value of a table takes on disk."""

SNAKEMAKE_MB = 400
"""The two Snakemake processes that start the verb inside a job of a cluster."""
GPU_MB = 3000
"""What the libraries of a GPU take of the memory of its host; not measured."""
NUMBER_BYTES = 8

START_MINUTES = 10
"""Imports and compilation on a busy node from a cold file system."""
NUMBER_SECONDS = 1e-6
"""Of ranks, autocorrelations and scores, per number."""


class Need(NamedTuple):
    """Megabytes and minutes that a job asks for."""

    mem_mb: int
    runtime: int

    def of_attempt(self, attempt: int) -> Need:
        """Ask for as much again with each attempt."""
        return Need(self.mem_mb * attempt, self.runtime * attempt)


def need(verb: str, *sizes: Size) -> Need:
    """Estimate what the first attempt of a job needs that reads runs of these sizes."""
    stage = PIPELINE[verb]
    assert stage.base_mb is not None, f"the rule of {verb} says what it needs"
    numbers = sum(stage.numbers(size) for size in sizes)
    fixed = stage.base_mb + SNAKEMAKE_MB + (GPU_MB if gpus_of(verb, *sizes) else 0)
    if stage.seconds is not None:
        work = sum(stage.seconds(size) for size in sizes)
    else:
        work = NUMBER_SECONDS * numbers
    return Need(
        mem_mb=math.ceil(fixed + numbers * NUMBER_BYTES / 1e6),
        runtime=math.ceil(START_MINUTES + work / 60),
    )


def gpus_of(verb: str, *sizes: Size) -> int:
    """Count the GPUs of a job."""
    return max((size.gpus for size in sizes), default=0) if PIPELINE[verb].on_gpu else 0


def rows_of(dataset: DatasetPreset, given: int | None = None) -> int:
    """Bound the rows of a dataset by what is given: bytes of a table, or a number of SLHA files."""
    if isinstance(dataset.source, SimulatedSource):
        return dataset.source.points
    if isinstance(dataset.source, ToySource):
        return TOY_ROWS
    if given is None:
        return UNKNOWN_ROWS
    if isinstance(dataset.source, SlhaSource):
        return given
    return math.ceil(given / (BYTES_PER_VALUE * (len(dataset.features.columns) + 1)))


def size_of_dataset(dataset: DatasetPreset, rows: int) -> Size:
    """Size the jobs that know no run."""
    share = dataset.split.train
    return Size(
        rows=rows,
        columns=len(dataset.features.columns),
        train=share if isinstance(share, int) else math.ceil(share * rows),
        reference=dataset.reference_points,
    )


def size_of(run: RunSpec, rows: int) -> Size:
    """Size the jobs of a run on a dataset of so many rows."""
    dataset, sampler = size_of_dataset(run.dataset, rows), run.sampler
    outputs = _outputs(run)
    weights = _weights((dataset.columns, *run.network.hidden, outputs))
    seconds = gradient_seconds(weights, dataset.train) * (2 if run.precision == "float64" else 1)
    matrix = _replicas(run) * _matrix(run, weights, dataset.train)
    draws = sampler.draws_per_segment * sampler.segments
    batches = run.pretraining.batches(dataset.train)
    return dataset._replace(
        outputs=outputs,
        weights=weights,
        matrix=matrix,
        chains=sampler.chains,
        block=len(run.blocks[0]),
        warmup=sampler.warmup.piece,
        segment=sampler.draws_per_segment,
        draws=draws,
        kept=draws // sampler.keep_every,
        prior_draws=PRIOR_DRAWS,
        draw_seconds=_replicas(run) * _gradients(run) * seconds + 20 * CELL_SECONDS * matrix,
        pretrain_seconds=run.pretraining.most_epochs * (seconds + batches * GRADIENT_SECONDS),
        gpus=run.execution.shards if run.execution.device == "gpu" else 0,
    )


def _outputs(run: RunSpec) -> int:
    """Count the outputs of a network; how many classes there are, only the table tells."""
    if run.network.outputs is not None:
        return run.network.outputs
    named = {"categorical": CLASSES, "heteroscedastic": 2}
    return named.get(run.likelihood.kind, len(run.dataset.target.columns))


def _weights(layers: Iterable[int]) -> int:
    return sum((fan_in + 1) * fan_out for fan_in, fan_out in pairwise(layers))


def _matrix(run: RunSpec, weights: int, train: int) -> int:
    """Count the numbers of the mass matrix, and of the Jacobian where it is learned from one."""
    kind = getattr(run.sampler.warmup, "mass_matrix", "diagonal")
    jacobian = weights * train if kind == "gauss_newton" else 0
    dense = kind in {"dense", "low_rank", "gauss_newton"}
    return jacobian + (weights**2 if dense else weights)


def _replicas(run: RunSpec) -> int:
    ladder = getattr(run.sampler.kernel, "inverse_temperatures", None)
    return len(ladder) if ladder else getattr(run.sampler.kernel, "rungs", 1)


def _gradients(run: RunSpec) -> int:
    """Bound the gradients of one draw of one replica."""
    kernel: Any = run.sampler.kernel
    if kernel.kind == "nuts":
        return 2**kernel.max_depth
    learned = getattr(run.sampler.warmup, "integration_steps_max", 1)
    most = getattr(kernel, "most_integration_steps", learned)
    steps: int = getattr(kernel, "integration_steps", most)
    if kernel.kind == "gibbs_hmc":
        return steps + 1
    return 2 * steps if "mclmc" in kernel.kind else steps
