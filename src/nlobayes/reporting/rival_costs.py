"""Names of rivals in tables, and what they cost: CPU time and memory."""

from __future__ import annotations

from pathlib import Path

from nlobayes.artifacts.files import read_json, read_timing
from nlobayes.extras import needed
from nlobayes.metrics.shown import rows_learned
from nlobayes.untyped import Facts

TIMINGS, JOBS = "timings/rivals", "timings/rival"
"""Folders: CPU seconds of fit and predictions, and Snakemake's benchmark of the whole job."""


def cost_of(results: Path, run: str, rival: str) -> dict[str, float]:
    """Read the cost of a rival of a run or of a dataset, as far as it is known.

    Returns CPU time of the `fit` in s, of one prediction in ms (`predict_1`), of 4096 in s
    (`predict_4096`), and the `peak` of the memory in MiB.
    """
    place = f"{run.split('/')[0]}/{rival}"
    path = results.parent / TIMINGS / f"{place}.json"
    found: dict[str, float | None] = dict(read_json(path)) if path.is_file() else {}
    found["peak"] = read_timing(results.parent / JOBS / f"{place}.tsv", "max_rss")
    known = {name: value for name, value in found.items() if value is not None}
    return known | ({"predict_1": 1e3 * known["predict_1"]} if "predict_1" in known else {})


def shown_name(name: str, found: Facts) -> str:
    """Return the name of a rival, with the package it needs or the part of the rows it learned."""
    if "missing" in found:
        return f"{name} {needed(found['missing'], 'rivals')}"
    part = rows_learned(found.get("facts", {}))
    return f"{name}, {part}" if part else name
