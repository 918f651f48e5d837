"""Chains joined from the paths of their files."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from nlobayes.artifacts import chains
from nlobayes.artifacts import segments as segment_files
from nlobayes.artifacts.netcdf import Groups, open_artifact
from nlobayes.artifacts.segments import Checkpoint


def assemble(warmups: Iterable[Path], segments: Iterable[Path]) -> Groups:
    """Open the files and join them."""
    warmed = [open_artifact(path, "warmup") for path in warmups]
    return chains.assemble(warmed, [open_artifact(path, "segment") for path in segments])


def draws(segments: Iterable[Path]) -> Groups:
    """Open the files and join their draws."""
    return chains.draws_of([open_artifact(path, "segment") for path in segments])


def read_checkpoint(path: Path) -> Checkpoint:
    """Open a warm-up or a segment and take its end state."""
    return segment_files.checkpoint_of(open_artifact(path))
