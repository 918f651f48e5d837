"""Facts of rivals that several commands use: their targets, packages and times."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nlobayes.artifacts.files import read_json
from nlobayes.errors import InputError
from nlobayes.extras import PACKAGES, remedy
from nlobayes.types import Dataset

TIMINGS = "timings/rivals"
EXTRA = "rivals"


def check_target(data: Dataset) -> None:
    """Refuse a dataset that no rival learns.

    Raises
    ------
    InputError
        If it has several targets, or classes.
    """
    scale, targets = data.transforms["target"]["scale"], len(data.target_names)
    if scale == "classes" or targets > 1:
        received = scale if scale == "classes" else f"{targets} targets"
        raise InputError("commands.rival_of_one_target", where="rival", received=received)


def seconds_of(results: Path, run: str, rival: str) -> Mapping[str, float]:
    """Find how long a rival took, beside the results; nothing where it was not kept."""
    path = results.parent / TIMINGS / run.split("/")[0] / f"{rival}.json"
    return read_json(path) if path.is_file() else {}


def said_of_missing(package: Any) -> str:
    """Name the package that a rival needs, and how to install it."""
    return f"needs {PACKAGES.get(str(package), str(package))}: {remedy(EXTRA)}"
