"""What SLHA files gave becomes a table, with account of every file that gave no row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from nlobayes.data.plausibility import doubtful_rows, repeated_rows
from nlobayes.data.readings import Reading, SpectrumRequest
from nlobayes.data.slha import key_of, unit_of
from nlobayes.data.statements import (
    PROTONS,
    UNKNOWN,
    fixed_around,
    spell_fixed,
    spell_order,
    state_process,
)
from nlobayes.data.units import convert
from nlobayes.errors import InputError
from nlobayes.types import Table

FILES_NAMED = 5
"""Names of files that an account gives of each kind."""

Account = dict[str, Any]


def tabulate(readings: Mapping[str, Reading], asked: SpectrumRequest) -> tuple[Table, Account]:
    """Make the table of what files, by name, gave, and the account of what they did not give.

    Columns: features of the process (`m1`, `n11` to `n14`, ...), those that not every file must
    have where every file has them, sigma_pb and the other targets, cross sections in pb, and file.
    Rows are in the order of the readings; one that repeats another is left out.

    The account holds the numbers of files and points, and for every pair of particles that failed
    somewhere (`failed`), for files without the pair requested (`absent`), for points that were left
    out as repeated, and for those that physics doubts (`doubtful`) their count and first files.

    Raises
    ------
    InputError
        If a file cannot be read, or none gave a point.
    """
    _check_readable(readings)
    account = _account(readings, asked)
    files = [name for name, reading in readings.items() if reading.values is not None]
    if not files:
        raise InputError(
            "slha.no_points",
            files=len(readings),
            pair=_pair(asked),
            sqrt_s_tev=asked.sqrt_s_gev / 1000,
            failed=_count(account["failed"].get(_pair(asked))),
            absent=_count(account["absent"]),
        )
    values = np.array([readings[name].values for name in files], np.float64)
    repeats, _ = repeated_rows(values)
    kept = np.delete(np.arange(len(files)), repeats)
    names = [files[row] for row in kept]
    table = _table(values[kept], names, [readings[name].also for name in names], asked)
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
            said=str(refused[0]),
            faults=[refused[0].code],
            more=len(refused) - 1,
            files=len(readings),
        )


def _account(readings: Mapping[str, Reading], asked: SpectrumRequest) -> Account:
    failed: dict[str, list[str]] = {}
    for name, reading in readings.items():
        for pair in reading.failed:
            failed.setdefault(pair, []).append(name)
    given = {name for name, reading in readings.items() if reading.values is not None}
    known = given.union(failed.get(_pair(asked), []))
    return {
        "files": len(readings),
        "failed": {pair: _listed(failed[pair]) for pair in sorted(failed)},
        "absent": _listed([name for name in readings if name not in known]),
    }


def _table(
    values: np.ndarray,
    names: Sequence[str],
    also: Sequence[Mapping[str, float]],
    asked: SpectrumRequest,
) -> Table:
    features, sources = asked.process.columns, asked.units
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
    return Table(ordered, units, _metadata(asked, columns.get("msq")))


def _metadata(asked: SpectrumRequest, squarks: np.ndarray | None) -> dict[str, str]:
    fixed = UNKNOWN if squarks is None else spell_fixed([fixed_around("msq", squarks, "GeV")])
    return {
        **state_process(PROTONS, asked.process),
        "sqrt_s_tev": repr(round(asked.sqrt_s_gev / 1000, 9)),
        **_calculation(asked),
        "fixed": fixed,
        "masses": "absolute" if asked.absolute else "signed",
    }


def _calculation(asked: SpectrumRequest) -> dict[str, str]:
    if asked.order is not None:
        return {
            "order": f"{spell_order(asked.order)}; {asked.sources['sigma_pb']}",
            "scales": "mu/2 for scale_up, 2 mu for scale_down",
        }
    columns = ", ".join(f"{name} {column}" for name, column in asked.sources.items())
    return {
        "order": f"NLO QCD; lo_pb: LO; columns of PROSPINO_OUTPUT: {columns}",
        "scales": "mu = mean mass of the pair, mu/2 for scale_up, 2 mu for scale_down",
        "engine": "Prospino",
    }


def _pair(asked: SpectrumRequest) -> str:
    return " ".join(map(str, key_of(asked.process)))


def _listed(names: Sequence[str]) -> Account:
    return {"count": len(names), "files": list(names[:FILES_NAMED])}


def _count(listed: Account | None) -> int:
    return listed["count"] if listed else 0
