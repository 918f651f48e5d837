"""Functions on rivals that several commands use: targets, packages, times and memory."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nlobayes.artifacts.files import read_json, read_timing
from nlobayes.errors import InputError
from nlobayes.extras import needed
from nlobayes.types import Dataset

TIMINGS, JOBS = "timings/rivals", "timings/rival"
"""Folders: CPU seconds of fit and predictions, and Snakemake's benchmark of the whole job."""
EXTRA = "rivals"
COSTS = ("fit, s", "1 point, ms", "4096 points, s", "peak, MiB")
"""Columns of `cost_cells`: CPU time of the fit and of predictions, memory of the whole process."""


def check_target(data: Dataset) -> None:
    """Refuse a dataset that rivals cannot learn.

    Raises
    ------
    InputError
        If it has several targets, or classes.
    """
    scale, targets = data.transforms["target"]["scale"], len(data.target_names)
    if scale == "classes" or targets > 1:
        received = scale if scale == "classes" else f"{targets} targets"
        raise InputError("commands.rival_of_one_target", where="rival", received=received)


def cost_of(results: Path, run: str, rival: str) -> Mapping[str, float | None]:
    """Read CPU seconds and memory (`peak`, MiB) of a rival; missing files are left out."""
    place = f"{run.split('/')[0]}/{rival}"
    path = results.parent / TIMINGS / f"{place}.json"
    seconds = read_json(path) if path.is_file() else {}
    return {**seconds, "peak": read_timing(results.parent / JOBS / f"{place}.tsv", "max_rss")}


def cost_cells(cost: Mapping[str, float | None]) -> list[str]:
    """Write the costs of a rival in the columns of `COSTS`; empty where one is unknown."""
    one = cost.get("predict_1")
    shown = [cost.get("fit"), None if one is None else 1e3 * one, cost.get("predict_4096")]
    peak = cost.get("peak")
    digits = ["" if value is None else f"{value:.3g}" for value in shown]
    return [*digits, "" if peak is None else f"{peak:.0f}"]


def shown_name(name: str, found: Mapping[str, Any]) -> str:
    """Return the name of a rival, with the package it needs or the part of the rows it learned."""
    if "missing" in found:
        return f"{name} {needed(found['missing'], EXTRA)}"
    part = rows_learned(found.get("facts", {}))
    return f"{name}, {part}" if part else name


def rows_learned(facts: Mapping[str, Any]) -> str:
    """Describe how many of the train rows a rival learned; empty if it learned all."""
    rows, given = facts.get("rows"), facts.get("train_rows")
    return f"{rows} of {given} rows" if rows and given and rows < given else ""
