"""Memory and time of a job, estimated from the sizes of its data, model and chains.

Memory is that of the program before any data, plus the numbers that the stage holds at once. Time
is that of the start and of the work: gradients over all train rows, or numbers that are processed.
Each stage states its own (`nlobayes.stages`). Both are upper bounds with a margin for slow nodes,
calibrated with measurements by Snakemake (`docs/cluster.md`). Every further attempt of a job
requests the same amount again.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import pairwise
from typing import NamedTuple

from nlobayes.methods.mcmc import MCMC
from nlobayes.stages import PIPELINE
from nlobayes.stages.job_size import CELL_SECONDS, GRADIENT_SECONDS, Size, gradient_seconds
from nlobayes.storage import MOST_STORED
from nlobayes.study.datasets import DatasetPreset
from nlobayes.study.grids import RunSpec
from nlobayes.study.jobs import PRIOR_DRAWS
from nlobayes.study.network_checks import MARGINALISED, marginal_numbers
from nlobayes.study.sources.program import ProgramSource

CLASSES = 10
"""Assumed number of classes if a network does not state it."""

SNAKEMAKE_MB = 400
"""Memory of the two Snakemake processes that start the verb inside a cluster job."""
GPU_MB = 3000
"""Host memory of the libraries of a GPU: 1.6 GB were measured (docs/performance.md)."""
NUMBER_BYTES = 8

START_MINUTES = 10
"""Time of imports and compilation on a busy node with a cold file system."""
NUMBER_SECONDS = 1e-6
"""Time per number of ranks, autocorrelations and scores."""


class Need(NamedTuple):
    """Megabytes and minutes that a job requests."""

    mem_mb: int
    runtime: int

    def of_attempt(self, attempt: int) -> Need:
        """Return the request of an attempt: that of the first one times its number."""
        return Need(self.mem_mb * attempt, self.runtime * attempt)


def need(verb: str, *sizes: Size) -> Need:
    """Estimate the needs of the first attempt of a job that reads runs of these sizes."""
    stage = PIPELINE[verb]
    assert stage.base_mb is not None, f"the rule of {verb} states its needs"
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
    if not PIPELINE[verb].on_gpu:
        return 0
    each = (size.pretraining_gpus if verb == "pretrain" else size.gpus for size in sizes)
    return max(each, default=0)


def rows_of(dataset: DatasetPreset) -> int:
    """Return an upper bound of the rows of a dataset; user files are measured."""
    return dataset.source.rows(len(dataset.features.columns))


def size_of_dataset(dataset: DatasetPreset, rows: int) -> Size:
    """Return the sizes of jobs that do not depend on a run."""
    size = Size(
        rows=rows,
        columns=len(dataset.features.columns),
        train=_train_rows(dataset, rows),
        reference=dataset.reference_points,
    )
    return _with_calls(size, dataset.source) if isinstance(dataset.source, ProgramSource) else size


def _with_calls(size: Size, source: ProgramSource) -> Size:
    """Add the sizes of the calls of a program in one job."""
    demands, rounds = source.demands, math.ceil(source.chunk / source.demands.at_once)
    return size._replace(
        called_mb=demands.memory_mb * demands.at_once, calling_seconds=demands.seconds * rounds
    )


def _train_rows(dataset: DatasetPreset, rows: int) -> int:
    """Count the train rows, with an assumed number of classes."""
    share = dataset.split.train
    if not isinstance(share, int):
        return math.ceil(share * rows)
    return share * (CLASSES if dataset.split.per_class else 1)


def size_of(run: RunSpec, rows: int) -> Size:
    """Return the sizes of the jobs of a run on a dataset with a number of rows."""
    dataset = size_of_dataset(run.dataset, rows)
    outputs = _outputs(run)
    inputs = run.dataset.features.components or dataset.columns
    weights = _weights((inputs, *run.network.hidden, outputs))
    marginal, cells = _integrated(run, dataset.train)
    seconds = gradient_seconds(weights + cells, dataset.train)
    seconds *= 2 if run.precision == "float64" else 1
    batches = run.pretraining.batches(dataset.train)
    sized = dataset._replace(
        outputs=outputs,
        weights=weights,
        marginal=marginal,
        prior_draws=PRIOR_DRAWS,
        pretrain_seconds=run.pretraining.most_epochs * (seconds + batches * GRADIENT_SECONDS),
        pretraining_gpus=run.execution.gpus_of("pretrain"),
        gpus=run.execution.gpus_of("draw"),
    )
    if run.mcmc is None:
        draws = run.method.draws_of_all
        return sized._replace(
            chains=1,
            draws=draws,
            kept=draws,
            matrix=run.method.matrix_numbers(weights, dataset.train),
            draw_seconds=run.method.gradients * seconds / draws,
        )
    return _with_chains(sized, run.mcmc, seconds)._replace(chain_group=len(run.chain_groups[0]))


def _with_chains(size: Size, method: MCMC, seconds: float) -> Size:
    """Add the sizes of chains, given the seconds of a gradient."""
    kernel, warmup = method.kernel, method.warmup
    matrix = kernel.replicas * warmup.matrix_numbers(size.weights, size.train)
    gradients = kernel.replicas * method.gradients_per_draw
    draws = method.draws_per_segment * method.segments
    return size._replace(
        matrix=matrix,
        chains=method.chains,
        warmup=warmup.steps_per_segment,
        segment=method.draws_per_segment,
        draws=draws,
        kept=_stored(method, draws),
        segment_kept=method.draws_per_segment // (method.thin or 1),
        draw_seconds=gradients * seconds + 20 * CELL_SECONDS * matrix,
    )


def _stored(method: MCMC, draws: int) -> int:
    """Bound the draws of a chain with stored weights."""
    return (
        draws // method.thin if method.thin else min(draws, math.ceil(MOST_STORED / method.chains))
    )


PROCESS_COPIES = 10
"""Matrices of rows and rows that a gradient of an infinitely wide network holds at once."""


def _integrated(run: RunSpec, train: int) -> tuple[int, int]:
    """Return the numbers held to integrate the output layer out, and the work per train row."""
    if run.network.width is not None:
        outputs = len(run.dataset.target.columns)
        return PROCESS_COPIES * outputs * train**2, outputs * train**2 // 3
    if run.network.output != MARGINALISED and not run.method.draws_output:
        return 0, 0
    units = run.network.hidden[-1]
    return marginal_numbers(units, train), units * min(units, train)


def _outputs(run: RunSpec) -> int:
    """Count the outputs of a network, with an assumed number of classes."""
    if run.network.outputs is not None:
        return run.network.outputs
    return run.likelihood.outputs_for(len(run.dataset.target.columns)) or CLASSES


def _weights(layers: Iterable[int]) -> int:
    return sum((fan_in + 1) * fan_out for fan_in, fan_out in pairwise(layers))
