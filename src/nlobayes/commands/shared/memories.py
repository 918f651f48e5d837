"""What verbs that build a model take of earlier data."""

from __future__ import annotations

from pathlib import Path

from nlobayes.artifacts.contents import read_memory
from nlobayes.study.jobs import ModelJob
from nlobayes.types import Memory


def memory_files(job: ModelJob) -> list[Path]:
    """List the file of the memory that the prior of a model names, if it names one."""
    return [] if job.prior.memory is None else [Path(job.prior.memory.file)]


def memory_of(job: ModelJob) -> Memory | None:
    """Read it."""
    return next(map(read_memory, memory_files(job)), None)
