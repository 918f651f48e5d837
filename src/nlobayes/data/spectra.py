"""SLHA files as the points of a table: the particles of a process and its cross section.

Files without a row are counted in an account.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from nlobayes.data.plausibility import doubtful_rows, repeated_rows
from nlobayes.data.prospino import BLOCK, RATIOS, Layout, read_rows, succeeded, target_sources
from nlobayes.data.slha import columns_at, key_of, unit_of
from nlobayes.data.slha_blocks import Section, read_sections, read_text, take_blocks
from nlobayes.data.statements import (
    PROTONS,
    UNKNOWN,
    fixed_around,
    spell_fixed,
    spell_order,
    state_process,
)
from nlobayes.data.units import convert
from nlobayes.data.xsections import read_cross_section
from nlobayes.errors import InputError
from nlobayes.physics.processes import Process
from nlobayes.types import Table
from nlobayes.untyped import Document

FILES_NAMED = 5
"""Most names of files of each kind in an account."""

Account = Document


class SpectrumRequest(NamedTuple):
    """Quantities to read from each SLHA file."""

    process: Process
    """The pair of particles."""
    sqrt_s_gev: float
    cross_section: str
    """Name of a column of PROSPINO_OUTPUT."""
    absolute: bool
    """Whether masses are read without their signs."""
    layout: Layout
    """All columns of PROSPINO_OUTPUT."""
    order: int | None = None
    """QCD order of blocks XSECTION; if given, these are read instead of PROSPINO_OUTPUT."""

    @property
    def sources(self) -> dict[str, str]:
        """Columns of the table that every point has, and their names in the file."""
        if self.order is not None:
            return {"sigma_pb": f"XSECTION of QCD order {self.order}"}
        return target_sources(self.cross_section, self.layout)

    @property
    def units(self) -> dict[str, str]:
        """Units of those columns in the file."""
        if self.order is not None:
            return {"sigma_pb": "pb"}
        return {
            name: "1" if column in RATIOS else self.layout.units[column]
            for name, column in self.sources.items()
        }


class Reading(NamedTuple):
    """Result of reading one file."""

    values: tuple[float, ...] | None = None
    """Features and targets, in the units of the file; None without a usable cross section."""
    also: Mapping[str, float] = {}
    """Columns that not every file has: msq, the mean mass of the light squarks in GeV, and from
    blocks XSECTION lo_pb, scale_up and scale_down in pb."""
    failed: tuple[str, ...] = ()
    """Pairs of particles without a usable cross section at this energy."""
    refusal: InputError | None = None
    """Error why the file cannot be read; None if it can."""


def read_file(path: Path, request: SpectrumRequest) -> Reading:
    """Read the point of a file; an error becomes the `refusal` of the reading."""
    try:
        return read_point(read_text(path), request, str(path))
    except InputError as error:
        return Reading(refusal=error)


def read_point(text: str, request: SpectrumRequest, source: str) -> Reading:
    """Read the features and cross sections of the requested process, and the pairs that failed.

    Raises InputError if the text is no complete spectrum, or a cross section is not in the required
    format.
    """
    columns = request.process.columns
    sections = read_sections(text, source)
    spectrum = columns_at(sections, source, columns)
    features = [
        abs(spectrum[name]) if request.absolute and unit_of(name) == "GeV" else spectrum[name]
        for name in columns
    ]
    read = _from_prospino if request.order is None else _from_xsections
    found = read(sections, request, source)
    if found.values is None:
        return found
    squarks = {"msq": spectrum["msq"]} if "msq" in spectrum else {}
    return found._replace(values=(*features, *found.values), also={**squarks, **found.also})


def _from_prospino(sections: Sequence[Section], request: SpectrumRequest, source: str) -> Reading:
    blocks = take_blocks(sections, (BLOCK,), source)
    rows = (
        read_rows(blocks[BLOCK], request.layout, request.sqrt_s_gev, source)
        if BLOCK in blocks
        else {}
    )
    columns = request.sources.values()
    failed = [pair for pair, row in rows.items() if not succeeded(row, columns)]
    names = tuple(" ".join(map(str, pair)) for pair in failed)
    pair = key_of(request.process)
    if pair in failed or pair not in rows:
        return Reading(failed=names)
    return Reading(tuple(rows[pair][column] for column in columns), failed=names)


def _from_xsections(sections: Sequence[Section], request: SpectrumRequest, source: str) -> Reading:
    assert request.order is not None
    found = read_cross_section(sections, request.process, request.sqrt_s_gev, request.order, source)
    if found is None:
        return Reading()
    if not 0 < found.value < math.inf:
        return Reading(failed=(" ".join(map(str, key_of(request.process))),))
    return Reading((found.value,), found.also)


def tabulate(readings: Mapping[str, Reading], request: SpectrumRequest) -> tuple[Table, Account]:
    """Make the table of all readings, by file name, and the account of files without a row.

    Columns: features of the process (`m1`, `n11` to `n14`, ...), optional columns if every file has
    them, sigma_pb and the other targets, cross sections in pb, and file. Rows are in the order of
    the readings; a row that repeats an earlier one is left out.

    The account has the numbers of files and points. It has the count and first files of every pair
    of particles that failed somewhere (`failed`), of files without the requested pair (`absent`),
    of points that were left out as repeated (`repeated`), and of physically implausible ones
    (`doubtful`).

    Raises InputError if a file cannot be read, or no file has a point.
    """
    _check_readable(readings)
    account = _account(readings, request)
    files = [name for name, reading in readings.items() if reading.values is not None]
    if not files:
        raise InputError(
            "slha.no_points",
            files=len(readings),
            pair=_pair(request),
            sqrt_s_tev=request.sqrt_s_gev / 1000,
            failed=_count(account["failed"].get(_pair(request))),
            absent=_count(account["absent"]),
        )
    values = np.array([readings[name].values for name in files], np.float64)
    repeats, _ = repeated_rows(values)
    kept = np.delete(np.arange(len(files)), repeats)
    names = [files[row] for row in kept]
    table = _table(values[kept], names, [readings[name].also for name in names], request)
    doubts = doubtful_rows(table.columns, table.units)
    account |= {
        "points": len(names),
        "repeated": _listed([files[row] for row in repeats]),
        "doubtful": {what: _listed([names[row] for row in rows]) for what, rows in doubts.items()},
    }
    return table, account


def _check_readable(readings: Mapping[str, Reading]) -> None:
    refused = [reading.refusal for reading in readings.values() if reading.refusal]
    if len(refused) == 1:
        raise refused[0]
    if refused:
        raise InputError(
            "slha.files_refused",
            reason=str(refused[0]),
            faults=[refused[0].code],
            more=len(refused) - 1,
            files=len(readings),
        )


def _account(readings: Mapping[str, Reading], request: SpectrumRequest) -> Account:
    failed: dict[str, list[str]] = {}
    for name, reading in readings.items():
        for pair in reading.failed:
            failed.setdefault(pair, []).append(name)
    given = {name for name, reading in readings.items() if reading.values is not None}
    known = given.union(failed.get(_pair(request), []))
    return {
        "files": len(readings),
        "failed": {pair: _listed(failed[pair]) for pair in sorted(failed)},
        "absent": _listed([name for name in readings if name not in known]),
    }


def _table(
    values: np.ndarray,
    names: Sequence[str],
    also: Sequence[Mapping[str, float]],
    request: SpectrumRequest,
) -> Table:
    features, sources = request.process.columns, request.units
    columns = dict(zip((*features, *sources), values.T, strict=True))
    units = {name: unit_of(name) for name in features}
    common = [name for name in also[0] if all(name in row for row in also)]
    for name in common:
        columns[name] = np.array([row[name] for row in also])
        units[name] = unit_of(name) if name == "msq" else "pb"
    for name, unit in sources.items():
        units[name] = "1" if unit == "1" else "pb"
        columns[name] = columns[name] if unit == "1" else convert(columns[name], unit, "pb")
    columns["file"], units["file"] = np.array(names, dtype=object), ""
    ordered = {name: np.ascontiguousarray(columns[name]) for name in units}
    return Table(ordered, units, _metadata(request, columns.get("msq")))


def _metadata(request: SpectrumRequest, squarks: np.ndarray | None) -> dict[str, str]:
    fixed = UNKNOWN if squarks is None else spell_fixed([fixed_around("msq", squarks, "GeV")])
    return {
        **state_process(PROTONS, request.process),
        "sqrt_s_tev": repr(round(request.sqrt_s_gev / 1000, 9)),
        **_calculation(request),
        "fixed": fixed,
        "masses": "absolute" if request.absolute else "signed",
    }


def _calculation(request: SpectrumRequest) -> dict[str, str]:
    if request.order is not None:
        return {
            "order": f"{spell_order(request.order)}; {request.sources['sigma_pb']}",
            "scales": "mu/2 for scale_up, 2 mu for scale_down",
        }
    columns = ", ".join(f"{name} {column}" for name, column in request.sources.items())
    return {
        "order": f"NLO QCD; lo_pb: LO; columns of PROSPINO_OUTPUT: {columns}",
        "scales": "mu = mean mass of the pair, mu/2 for scale_up, 2 mu for scale_down",
        "engine": "Prospino",
    }


def _pair(request: SpectrumRequest) -> str:
    return " ".join(map(str, key_of(request.process)))


def _listed(names: Sequence[str]) -> Account:
    return {"count": len(names), "files": list(names[:FILES_NAMED])}


def _count(listed: Account | None) -> int:
    return listed["count"] if listed else 0
