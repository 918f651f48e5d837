"""Inspection of single files for damage, missing groups and numbers that are not finite."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import xarray as xr
from pyarrow import parquet

from nlobayes.artifacts.files import read_json
from nlobayes.artifacts.netcdf import check_groups, open_artifact
from nlobayes.artifacts.places import remedy
from nlobayes.artifacts.schemas import SCHEMAS
from nlobayes.errors import InputError
from nlobayes.stages.definitions import FAILURE
from nlobayes.untyped import Document

NEEDED_ATTRS = ("verb", "code_digest", "lock_digest", "spec", "inputs", "versions")
DEVICE_ATTRS = ("device", "precision")
COMPUTED = (
    *("start", "warmup", "segment", "posterior", "thinned", "predictions"),
    *("earlier", "surrogate"),
)
"""Kinds whose numbers depend on a device and its precision."""
MAY_BE_INFINITE = (
    *("sample_stats", "all_sample_stats", "warmup_sample_stats"),
    *("adaptation", "history"),
)
"""Groups with records of failed or missing steps, or with values that start at infinity."""
REPACKING = {"scale_factor", "add_offset", "missing_value", "_FillValue", "_Unsigned"}
"""Attributes by which NetCDF readers change the stored values."""
KEYS = {
    "diagnostics.json": ("checks", "converged"),
    "evaluation.json": ("train", "val", "test", "baseline", "calibration_checks"),
    "verdict": ("met", "draws_per_chain", "checks"),
}


def inspect(path: Path) -> list[str]:
    """List the errors of a file, each with its place; an unknown file type is an error too."""
    check = CHECKS.get(path.suffix)
    if check is None:
        return [f"no artifact ends in {path.suffix!r}; move it away"]
    try:
        return list(check(path))
    except InputError as error:
        return [error.reason]


def _netcdf(path: Path) -> Iterator[str]:
    _, groups, attrs, _ = open_artifact(path)
    kind = attrs.get("kind")
    if kind not in SCHEMAS:
        yield f"attribute kind is {kind!r}, must be one of {', '.join(SCHEMAS)}"
        return
    check_groups(groups, kind, attrs.get("form"), path)
    needed = NEEDED_ATTRS + (DEVICE_ATTRS if kind in COMPUTED else ())
    yield from (f"attribute {name} is missing" for name in needed if name not in attrs)
    for name, group in groups.items():
        yield from (f"{name}/{problem}" for problem in _repacked(group))
        if name not in MAY_BE_INFINITE:
            yield from (f"{name}/{problem}" for problem in _not_finite(group))
    if kind == "dataset":
        yield from _without_unit(groups, attrs)


def _repacked(group: xr.Dataset) -> Iterator[str]:
    for name, values in group.variables.items():
        for attribute in sorted(REPACKING & values.attrs.keys()):
            yield f"{name}: attribute {attribute} lets readers change its values; remove the file"


def _not_finite(group: xr.Dataset) -> Iterator[str]:
    for name, values in group.variables.items():
        if values.dtype.kind == "f":
            count = int((~np.isfinite(values.values)).sum())
            if count:
                yield f"{name}: {count} of {values.size} values are not finite"


def _without_unit(groups: dict[str, xr.Dataset], attrs: Document) -> Iterator[str]:
    units, targets = attrs.get("units"), attrs.get("targets", [None])
    if not isinstance(units, dict):
        yield f"attribute units is {units!r}, must name the unit of each column"
        return
    for name in (*map(str, groups["inputs"]["input"].values), *targets):
        if not isinstance(units.get(name), str):
            yield f"attribute units names none for column {name}"


def _parquet(path: Path) -> Iterator[str]:
    try:
        table = parquet.read_table(path, page_checksum_verification=True)
    except (OSError, pa.ArrowException) as error:
        yield f"cannot be read as parquet: {error}; {remedy(path)}"
        return
    reasons = table[FAILURE].to_pylist() if FAILURE in table.column_names else [""] * len(table)
    failed = np.array([*map(bool, reasons)], dtype=bool)
    for field, column in zip(table.schema, table.columns, strict=True):
        if b"unit" not in (field.metadata or {}):
            yield f"column {field.name} names no unit"
        if pa.types.is_floating(field.type) and not (failed | np.isfinite(column.to_numpy())).all():
            yield f"column {field.name}: values are not finite"


def _json(path: Path) -> Iterator[str]:
    name = next((key for key in KEYS if path.name.startswith(key)), None)
    read_json(path, *KEYS.get(name or "", ()))
    return iter(())


def _csv(path: Path) -> Iterator[str]:
    try:
        rows = list(csv.reader(path.read_text("utf-8").splitlines(), strict=True))
    except (ValueError, csv.Error) as error:
        yield f"cannot be read as CSV: {error}; {remedy(path)}"
        return
    if not rows or len(set(rows[0])) < len(rows[0]):
        yield "has no header of different columns"
    for number, row in enumerate(rows[1:], 2):
        if len(row) != len(rows[0]):
            yield f"line {number} has {len(row)} cells, its header {len(rows[0])}"
            return


def _between(begin: bytes, end: bytes) -> Callable[[Path], Iterator[str]]:
    """Return a check of the two ends of a file; its record covers the bytes between them."""

    def check(path: Path) -> Iterator[str]:
        content = path.read_bytes()
        if not (content.startswith(begin) and content.rstrip().endswith(end)):
            yield "is cut short, or does not match its name"

    return check


def _text(path: Path) -> Iterator[str]:
    try:
        path.read_text("utf-8")
    except UnicodeDecodeError as error:
        yield f"cannot be read as UTF-8: {error}"


CHECKS: dict[str, Callable[[Path], Iterator[str]]] = {
    ".nc": _netcdf,
    ".parquet": _parquet,
    ".json": _json,
    ".csv": _csv,
    ".svg": _between(b"<?xml", b"</svg>"),
    ".png": _between(b"\x89PNG\r\n\x1a\n", b"IEND\xaeB`\x82"),
    ".md": _text,
}
