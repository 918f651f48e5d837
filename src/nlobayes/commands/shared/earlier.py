"""What verbs that build a model take of earlier data."""

from __future__ import annotations

from pathlib import Path

from nlobayes.artifacts.contents import read_earlier
from nlobayes.study.jobs import ModelJob
from nlobayes.types import EarlierData


def earlier_files(job: ModelJob) -> list[Path]:
    """List the file of the earlier data that the prior of a model names, if any."""
    return [] if job.prior.earlier is None else [Path(job.prior.earlier.file)]


def earlier_of(job: ModelJob) -> EarlierData | None:
    """Read it."""
    return next(map(read_earlier, earlier_files(job)), None)
