"""What a job needs of a machine: memory and time from the sizes of its data, model and chains.

Memory is what a program takes before any data (`BASE_MB`) and the numbers that the verb holds at
once. Time is a start and the work: gradients of all train rows, or numbers gone through. Both are
bounds with room for a slow node, and calibrated on what Snakemake recorded (`docs/cluster.md`);
every further attempt of a job asks for as much again.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import NamedTuple

from nlobayes.study.grid import RunSpec
from nlobayes.study.jobs import PRIOR_DRAWS
from nlobayes.study.methods.mcmc import MCMC
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

BASE_MB = {
    "simulate": 300,
    "ingest": 300,
    "prepare": 300,
    "pretrain": 1100,
    "warmup": 1300,
    "draw": 1100,
    "judge": 500,
    "assemble": 300,
    "diagnose": 600,
    "thin": 600,
    "propagate": 600,
    "evaluate": 700,
    "tabulate": 700,
    "tabulate_classes": 700,
    "export": 500,
    "agree": 600,
    "landscape": 1100,
    "prior_predictive": 1000,
    "compare": 500,
    "plot": 500,
}
"""Interpreter, libraries and compiler of each verb, with a third to a half as much again."""
SNAKEMAKE_MB = 400
"""The two Snakemake processes that start the verb inside a job of a cluster."""
GPU_MB = 3000
"""What the libraries of a GPU take of the memory of its host; not measured."""
ON_GPU = {"pretrain", "warmup", "draw", "landscape"}
"""Verbs that compute on the device of the study."""
NUMBER_BYTES = 8

START_MINUTES = 10
"""Imports and compilation on a busy node from a cold file system."""
GRADIENT_SECONDS = 5e-5
"""Of a gradient, whatever its size."""
CELL_SECONDS = 5e-10
"""Of a gradient, per weight and train row."""
FILE_SECONDS = 0.02
"""Of an SLHA file that is read, on a slow file system."""
NUMBER_SECONDS = 1e-6
"""Of ranks, autocorrelations and scores, per number."""


class Need(NamedTuple):
    """Megabytes and minutes that a job asks for."""

    mem_mb: int
    runtime: int

    def of_attempt(self, attempt: int) -> Need:
        """Ask for as much again with each attempt."""
        return Need(self.mem_mb * attempt, self.runtime * attempt)


class Size(NamedTuple):
    """The numbers that memory and time follow from.

    Attributes
    ----------
    rows, columns, train, reference
        Of the dataset: rows of all splits and of the train split, columns, reference points.
    outputs
        Of the network.
    weights, matrix
        Parameters of the network, and numbers of the mass matrices of a chain.
    chains, block
        Chains of the run, and those that one job computes.
    warmup, segment, draws, kept
        Steps of a piece of the warm-up; draws of a segment, of a chain, and those with weights.
    draw_seconds, pretrain_seconds
        Time of one draw of a chain and of one MAP.
    gpus
        Of one job.
    """

    rows: int
    columns: int
    train: int
    reference: int
    outputs: int = 1
    weights: int = 0
    matrix: int = 0
    chains: int = 0
    block: int = 0
    warmup: int = 0
    segment: int = 0
    draws: int = 0
    kept: int = 0
    draw_seconds: float = 0.0
    pretrain_seconds: float = 0.0
    gpus: int = 0

    @property
    def data(self) -> int:
        """Numbers of the dataset: features, targets, and what was made on the way."""
        return 10 * self.rows * (self.columns + 4)

    @property
    def drawn(self) -> int:
        """Numbers of a posterior: the function and the stats of every draw, the kept weights."""
        return self.chains * (
            self.kept * self.weights + self.draws * (self.outputs * self.reference + 20)
        )

    @property
    def segment_drawn(self) -> float:
        """Numbers of one segment of a block."""
        return self.drawn * self.block / self.chains * self.segment / self.draws

    @property
    def predicted(self) -> int:
        """Numbers of all predictions, none thinned away."""
        return self.chains * self.kept * self.rows * self.outputs


NUMBERS: dict[str, Callable[[Size], float]] = {
    "simulate": lambda s: s.data,
    "ingest": lambda s: 100 * s.rows,
    "prepare": lambda s: s.data,
    "pretrain": lambda s: s.data + 100 * s.weights,
    "warmup": lambda s: s.data + s.block * (20 * s.matrix + 100 * s.warmup),
    "draw": lambda s: s.data + s.block * s.matrix + 3 * s.segment_drawn,
    "judge": lambda s: 8 * s.drawn,
    "assemble": lambda s: s.data + 2 * s.drawn,
    "diagnose": lambda s: s.data + 8 * s.drawn,
    "thin": lambda s: s.data + 6 * s.drawn,
    "propagate": lambda s: s.data + 2 * s.drawn + 3 * s.predicted,
    "evaluate": lambda s: s.data + 5 * s.predicted,
    "tabulate": lambda s: s.data + 8 * s.drawn + 5 * s.predicted,
    "tabulate_classes": lambda s: s.data + 8 * s.drawn + 5 * s.predicted,
    "export": lambda s: s.data + 6 * s.drawn + 3 * s.predicted,
    "agree": lambda s: 8 * s.drawn,
    "landscape": lambda s: s.data + 100 * s.weights,
    "prior_predictive": lambda s: s.data + PRIOR_DRAWS * (s.weights + 10 * s.reference),
    "compare": lambda s: 0,
    "plot": lambda s: 100 * s.rows,
}
"""Numbers that a verb holds at once."""

SECONDS: dict[str, Callable[[Size], float]] = {
    "ingest": lambda s: FILE_SECONDS * s.rows,
    "pretrain": lambda s: s.pretrain_seconds,
    "warmup": lambda s: s.block * s.warmup * s.draw_seconds,
    "draw": lambda s: s.block * s.segment * s.draw_seconds,
    "export": lambda s: CELL_SECONDS * s.predicted * s.weights,
    "propagate": lambda s: CELL_SECONDS * s.predicted * s.weights,
    "landscape": lambda s: 5000 * gradient_seconds(s.weights, s.train),
}
"""Work of a verb; every other goes through its numbers."""


def need(verb: str, *sizes: Size) -> Need:
    """Estimate what the first attempt of a job needs that reads runs of these sizes."""
    numbers = sum(NUMBERS[verb](size) for size in sizes)
    fixed = BASE_MB[verb] + SNAKEMAKE_MB + (GPU_MB if gpus_of(verb, *sizes) else 0)
    if verb in SECONDS:
        work = sum(SECONDS[verb](size) for size in sizes)
    else:
        work = NUMBER_SECONDS * numbers
    return Need(
        mem_mb=math.ceil(fixed + numbers * NUMBER_BYTES / 1e6),
        runtime=math.ceil(START_MINUTES + work / 60),
    )


def gpus_of(verb: str, *sizes: Size) -> int:
    """Count the GPUs of a job."""
    return max((size.gpus for size in sizes), default=0) if verb in ON_GPU else 0


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
    dataset = size_of_dataset(run.dataset, rows)
    outputs = _outputs(run)
    weights = _weights((dataset.columns, *run.network.hidden, outputs))
    seconds = gradient_seconds(weights, dataset.train) * (2 if run.precision == "float64" else 1)
    batches = run.pretraining.batches(dataset.train)
    sized = dataset._replace(
        outputs=outputs,
        weights=weights,
        pretrain_seconds=run.pretraining.most_epochs * (seconds + batches * GRADIENT_SECONDS),
        gpus=run.execution.shards if run.execution.device == "gpu" else 0,
    )
    if run.mcmc is None:
        return sized._replace(draws=len(run.starts), kept=len(run.starts))
    return _with_chains(sized, run.mcmc, seconds)._replace(block=len(run.blocks[0]))


def _with_chains(size: Size, method: MCMC, seconds: float) -> Size:
    """Add what chains need, of a gradient that takes so many seconds."""
    kernel, warmup = method.kernel, method.warmup
    matrix = kernel.replicas * warmup.matrix_numbers(size.weights, size.train)
    gradients = kernel.replicas * kernel.gradients_per_draw(warmup)
    draws = method.draws_per_segment * method.segments
    return size._replace(
        matrix=matrix,
        chains=method.chains,
        warmup=warmup.piece,
        segment=method.draws_per_segment,
        draws=draws,
        kept=draws // method.thin,
        draw_seconds=gradients * seconds + 20 * CELL_SECONDS * matrix,
    )


def gradient_seconds(weights: int, train: int) -> float:
    """Bound the time of one gradient in single precision on one core."""
    return GRADIENT_SECONDS + CELL_SECONDS * weights * train


def _outputs(run: RunSpec) -> int:
    """Count the outputs of a network; how many classes there are, only the table tells."""
    if run.network.outputs is not None:
        return run.network.outputs
    return run.likelihood.outputs(len(run.dataset.target.columns)) or CLASSES


def _weights(layers: Iterable[int]) -> int:
    return sum((fan_in + 1) * fan_out for fan_in, fan_out in pairwise(layers))
