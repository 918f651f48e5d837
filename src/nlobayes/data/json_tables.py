"""Tables in JSON: lists of records, and the published grids of cross sections.

A grid, as HEPi and the LHC SUSY working group write them, is an object. It has "parameters" (the
names of each level; names of one level were set equal), "data" (nested objects whose keys are
values of the parameters in GeV, with cross sections and errors in pb as leaves), and statements of
the process. A key may be repeated: its objects are merged.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, BinaryIO

import numpy as np

from nlobayes.data.column_names import check_header
from nlobayes.data.row_chunks import Chunk, OpenTable, check_size
from nlobayes.data.slha_blocks import to_integers, to_numbers
from nlobayes.data.statements import PROTONS, state_process
from nlobayes.errors import InputError

Row = tuple[tuple[float, ...], Mapping[str, float]]
"""Values of the parameters, and the numbers of a leaf or a record by name."""
MOST_DEPTH = 8
"""Most parameters of a grid."""
STATEMENTS = {
    **{"order": "order", "PDF set": "parton_distributions", "tool": "engine"},
    **{"source": "source"},
}
"""Entries of the origin of a surrogate by the keys of a grid."""
ENERGY = "Ecom [GeV]"
PB = "_pb"
FIRST_SUPERPARTNER = 1_000_001


def open_json(file: BinaryIO, source: str, most_bytes: float) -> OpenTable:
    """Open a table: a row for each record, or for each leaf of a grid, in the order of the file.

    A record is an object of numbers. Columns of a grid are the parameters (GeV), then the numbers
    of the leaves (pb); a number that a row lacks is NaN. The particles of a grid's process are
    known if its `process_id` ends in two PDG numbers; else the user states them.

    Raises InputError if the file is neither or too large, and ValueError if it is no JSON.
    """
    content = file.read()
    check_size(len(content), most_bytes, source)
    given = json.loads(content, object_pairs_hook=_merged)
    is_grid = isinstance(given, dict) and {"parameters", "data"} <= given.keys()
    if not is_grid and not isinstance(given, list):
        raise InputError("data.no_json_table", where=source)
    rows = [*(_leaves(given["data"], (), source) if is_grid else _records(given, source))]
    depth = len(rows[0][0]) if rows else 0
    if any(len(point) != depth for point, _ in rows):
        raise InputError("data.grid_of_depths", where=source)
    parameters = _names(given["parameters"], depth, source) if is_grid else []
    numbers = [*dict.fromkeys(name for _, leaf in rows for name in leaf)]
    names = [*parameters, *numbers]
    check_header(names, source)
    cells = [(*point, *(leaf.get(name, np.nan) for name in numbers)) for point, leaf in rows]
    table = np.array(cells, np.float64).reshape(len(rows), len(names))

    def chunks(columns: Sequence[str], rows: int | None, strict: bool) -> Iterator[Chunk]:
        del strict  # all rows are whole
        step = rows or max(len(table), 1)
        for first in range(0, len(table), step):
            part = table[first : first + step]
            labels = np.arange(first, first + len(part)) + 1
            read = {name: part[:, names.index(name)] for name in columns}
            yield Chunk(labels, read, {}, (first + len(part)) / len(table))

    units = dict.fromkeys(parameters, "GeV")
    units |= {name: "pb" if name.endswith(PB) else "" for name in numbers}
    return OpenTable(units, _stated(given) if is_grid else {}, chunks)


def _merged(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """Merge the objects of a repeated key; of other values the last counts, as in JSON."""
    merged: dict[str, Any] = {}
    for key, value in pairs:
        both = isinstance(value, dict) and isinstance(merged.get(key), dict)
        merged[key] = {**merged[key], **value} if both else value
    return merged


def _records(given: Sequence[Any], source: str) -> Iterator[Row]:
    """Yield the numbers of each record of a list."""
    for record in given:
        if not _is_leaf(record):
            raise InputError("data.no_json_table", where=source)
        yield (), record


def _leaves(node: Any, point: tuple[float, ...], source: str) -> Iterator[Row]:
    """Yield the values of the parameters and the numbers of each leaf."""
    if point and _is_leaf(node):
        yield point, node
        return
    if not isinstance(node, dict) or len(point) == MOST_DEPTH:
        raise InputError("data.no_json_table", where=source)
    for key, below in node.items():
        value = to_numbers([key])
        if value is None or not math.isfinite(value[0]):
            raise InputError("data.grid_key", where=source, key=key)
        yield from _leaves(below, (*point, *value), source)


def _is_leaf(node: Any) -> bool:
    """Return whether a value is an object of numbers."""
    numbers = node.values() if isinstance(node, dict) else ()
    return bool(numbers) and all(type(value) in (int, float) for value in numbers)


def _names(parameters: Any, depth: int, source: str) -> list[str]:
    """Name the parameters; equal masses as `mass_1000023_1000024`, which SLHA files have."""
    given = parameters if isinstance(parameters, list) else [parameters]
    levels = [each if isinstance(each, list) else [each] for each in given]
    if len(levels) == 1 and len(levels[0]) == depth:  # as HEPi lists those of a plane
        levels = [[name] for name in levels[0]]
    if len(levels) != depth or not all(isinstance(name, str) for one in levels for name in one):
        raise InputError("data.grid_parameters", where=source, received=parameters, depth=depth)
    named = []
    for level in levels:
        numbers = to_integers([name.lower().removeprefix("mass_") for name in level])
        masses = [f"{abs(number)}" for number in numbers or ()]
        named.append("_".join(["mass", *masses] if masses else level))
    return named


def _stated(grid: Mapping[str, Any]) -> dict[str, str]:
    """Return what a grid states of its process, as entries of a surrogate's origin."""
    stated = {ours: str(grid[key]) for key, ours in STATEMENTS.items() if grid.get(key)}
    energy = to_numbers([str(grid.get(ENERGY, ""))])
    if energy:
        stated["sqrt_s_tev"] = repr(energy[0] / 1000)
    pair = to_integers(str(grid.get("process_id", "")).split("_")[-2:])
    if pair and min(map(abs, pair)) >= FIRST_SUPERPARTNER:
        stated |= state_process(PROTONS, pair)
    return stated
