# What the jobs of the study need of a machine.

from functools import cache
from pathlib import Path

from nlobayes.study.resources import need, rows_of, size_of, size_of_dataset


def gpus(wildcards):
    """Count the GPUs of a job."""
    execution = STUDY.execution
    return execution.shards if execution.device == "gpu" else 0


@cache
def rows_of_dataset(name):
    """Bound the rows of a dataset, those of a table or of SLHA files by what is there."""
    dataset = STUDY.datasets[name]
    if name in INGESTED:
        return rows_of(dataset, len(dataset.source.files(Path(dataset.source.folder))))
    path = Path(getattr(dataset.source, "path", ""))
    return rows_of(dataset, path.stat().st_size if path.is_file() else None)


def size_of_run(run):
    """Size the jobs of a run."""
    return size_of(run, rows_of_dataset(run.names["dataset"]))


READ = {
    "dataset": lambda name: [
        size_of_dataset(STUDY.datasets[name], rows_of_dataset(name))
    ],
    "model": lambda name: [size_of_run(MODELS[name])],
    "run": lambda name: [size_of_run(RUNS[name])],
    "rivals": lambda name: [size_of_run(RUNS[run_id]) for run_id in RIVALS[name]],
    "grid": lambda name: [],
}


@cache
def need_of(verb, kind, name):
    """Estimate what the jobs of a verb need, once for all that read the same."""
    return need(verb, *READ[kind](name))


def memory(verb):
    """Give the memory of a job in MB; its first wildcard says what it reads."""

    def megabytes(wildcards, attempt):
        return need_of(verb, *next(iter(wildcards.items()))).of_attempt(attempt).mem_mb

    return megabytes


def wall_time(verb):
    """Give the wall time of a job in minutes."""

    def minutes(wildcards, attempt):
        return need_of(verb, *next(iter(wildcards.items()))).of_attempt(attempt).runtime

    return minutes
