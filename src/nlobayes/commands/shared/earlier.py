"""Earlier data that the prior of a model names."""

from __future__ import annotations

from pathlib import Path

from nlobayes.artifacts.contents import read_earlier
from nlobayes.study.jobs import ModelJob
from nlobayes.types import EarlierData


def earlier_files(job: ModelJob) -> list[Path]:
    """List the file of the earlier data of a model; empty if its prior names none."""
    return [] if job.prior.earlier is None else [Path(job.prior.earlier.file)]


def earlier_of(job: ModelJob) -> EarlierData | None:
    """Read the earlier data of a model; None if its prior names none."""
    return next(map(read_earlier, earlier_files(job)), None)
