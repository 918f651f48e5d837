"""Cross sections of Prospino in SLHA files, read by the names of their columns.

A line of the block PROSPINO_OUTPUT holds two particle numbers, the energy in GeV, and the columns
of a layout. A comment of the block that names the columns must agree with the layout.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from nlobayes.data.slha import key_of, same_energy
from nlobayes.data.slha_blocks import Block, Line, to_integers, to_numbers
from nlobayes.errors import InputError

BLOCK = "PROSPINO_OUTPUT"
LAYOUT = (
    *("lo:fb", "lo_relnumerr", "nlo:fb", "nlo_relnumerr", "nlo_ms:fb"),
    *("nlo_ms_scale05:fb", "nlo_ms_scale2:fb", "nlo_ms_pdferr:fb", "nlo_ms_aup:fb"),
    "nlo_ms_adn:fb",
)
"""Usual columns: LO, NLO, and NLO with the squark masses of the point (ms), the last also at half
and twice the scale, with its PDF error and at the upper and lower alpha_s; relative numerical
errors of the first two."""
DAT_COLUMNS = (
    *("proc", "i1", "i2", "dummy0", "dummy1", "scafac", "m1:GeV", "m2:GeV", "angle", "LO:pb"),
    *("relerr_LO", "NLO:pb", "relerr_NLO", "K", "LO_ms:pb", "NLO_ms:pb"),
)
"""Columns of `prospino.dat`, which has no header."""
OF_HIGGS = ("hh", "ht")
"""Processes whose rows of `prospino.dat` have another cross section in place of the last two."""
DAT_LEGEND = ["i1", "i2", "dummy0"]
"""First words of the line behind the rows of `prospino.dat`, which names all but the first."""
RATIOS = {"lo_relnumerr", "nlo_relnumerr"}
KNOWN = {entry.partition(":")[0] for entry in LAYOUT}
KEY_NAMES = {"pid", "pid1", "pid2", "com-energy", "sqrt_s", "sqrts", "energy", "ecm"}
"""Names of the two particles and the energy in comments."""
TARGETS = {
    "lo_pb": "lo",
    "scale_up": "nlo_ms_scale05",
    "scale_down": "nlo_ms_scale2",
    "pdf_error_pb": "nlo_ms_pdferr",
    "alpha_s_up": "nlo_ms_aup",
    "alpha_s_down": "nlo_ms_adn",
    "rel_error": "nlo_relnumerr",
}
"""Columns of the table and of the layout besides the requested cross section."""
MAY_VANISH = {*RATIOS, "nlo_ms_pdferr"}
"""Columns that may be zero in a point that did not fail."""
UNITS = ("fb", "pb")
"""Units of cross sections."""
NAMES_OF_A_HEADER = 3
"""Fewest known names in a comment that is taken for a header."""
WORD = re.compile(r"([^\s\[\],;|()]+)(?:\s*[\[(]\s*(\w*)\s*[\])])?")
"""A word of a comment, and the unit in brackets that may follow it."""


def row_of_dat(row: list[str]) -> list[str]:
    """Give a row of `prospino.dat` all columns; two of charged Higgs bosons are NaN."""
    if len(row) != len(DAT_COLUMNS) - 1 or row[0] not in OF_HIGGS:
        return row
    return [*row[:-1], "nan", "nan"]


class Layout(NamedTuple):
    """Columns in order with the units of cross sections, and whether the user gave them."""

    units: dict[str, str]
    given: bool


def make_layout(entries: Sequence[str] | None, cross_section: str) -> Layout:
    """Make the layout from entries `name` or `name:unit`; None selects the usual one.

    Raises InputError if a name is empty or repeated, a known cross section lacks a unit of cross
    sections, a ratio has a unit, or the requested cross section is not among the names.
    """
    parts = [entry.partition(":") for entry in (LAYOUT if entries is None else entries)]
    units = {name.strip().lower(): unit.strip() for name, _, unit in parts}
    for name, unit in units.items():
        _check_entry(name, unit)
    if len(units) < len(parts):
        raise InputError("slha.layout_repeats", where="layout")
    if cross_section not in units:
        raise InputError("slha.layout_lacks", where="layout", name=cross_section, columns=[*units])
    return Layout(units, entries is not None)


def _check_entry(name: str, unit: str) -> None:
    (entry,) = _spell([(name, unit)])
    if not name:
        raise InputError("slha.layout_without_name", where="layout", entry=entry)
    if name in RATIOS and unit:
        raise InputError("slha.layout_ratio_with_unit", where="layout", entry=entry, name=name)
    if name in KNOWN - RATIOS and unit not in UNITS:
        raise InputError("slha.layout_unit", where="layout", entry=entry, name=name)


def target_sources(cross_section: str, layout: Layout) -> dict[str, str]:
    """Map the columns of the table to the columns of the block that they are read from."""
    varied = cross_section == "nlo_ms"  # other cross sections have no variations
    return {"sigma_pb": cross_section} | {
        name: column
        for name, column in TARGETS.items()
        if column in layout.units and (varied or not column.startswith("nlo_ms_"))
    }


def read_rows(
    block: Block, layout: Layout, sqrt_s_gev: float, source: str
) -> dict[tuple[int, ...], dict[str, float]]:
    """Read the columns, by name, of every pair of particles at an energy.

    Raises InputError if a line is not in the layout, a comment disagrees with it, or a pair appears
    twice.
    """
    for comment in block.comments:
        _check_comment(comment, layout, source)
    rows: dict[tuple[int, ...], dict[str, float]] = {}
    for line in block.lines:
        particles, energy, values = _row(line, layout, source)
        if not same_energy(energy, sqrt_s_gev):
            continue
        if particles in rows:
            raise InputError("slha.pair_twice", where=source, line=line.number, block=BLOCK)
        rows[particles] = dict(zip(layout.units, values, strict=True))
    return rows


def succeeded(columns: Mapping[str, float], used: Iterable[str]) -> bool:
    """Return whether the values of all used columns agree with their names."""
    return all(
        math.isfinite(columns[name])
        and (columns[name] > 0 or (columns[name] == 0 and name in MAY_VANISH))
        for name in used
    )


def _row(line: Line, layout: Layout, source: str) -> tuple[tuple[int, ...], float, list[float]]:
    """Read a line; any number of -1 alone after its key marks a failed calculation."""
    particles, numbers = to_integers(line.words[:2]), to_numbers(line.words[2:])
    energy, *values = numbers or [math.nan]
    if set(values) == {-1.0}:
        values = [-1.0] * len(layout.units)
    if particles is None or len(particles) < 2 or len(values) != len(layout.units):
        raise InputError(
            "slha.line_not_in_layout",
            where=source,
            line=line.number,
            block=BLOCK,
            count=len(layout.units),
            columns=[*layout.units],
            words=" ".join(line.words)[:120],
        )
    return key_of(particles), energy, values


def _check_comment(comment: str, layout: Layout, source: str) -> None:
    """Refuse a comment that names other columns; a user's layout may use other names."""
    words = [(word.lower(), unit) for word, unit in WORD.findall(comment)]
    if sum(word in KNOWN for word, _ in words) < NAMES_OF_A_HEADER:
        return
    found = [pair for pair in words if pair[0] not in KEY_NAMES]
    agree = layout.given
    if len(found) == len(layout.units):
        agree = all(
            unit in ("", expected) and (word == name or (layout.given and word not in KNOWN))
            for (word, unit), (name, expected) in zip(found, layout.units.items(), strict=True)
        )
    if not agree:
        raise InputError(
            "slha.comment_against_layout",
            where=source,
            block=BLOCK,
            found=_spell(found),
            layout=_spell(layout.units.items()),
        )


def _spell(columns: Iterable[tuple[str, str]]) -> list[str]:
    return [f"{name}:{unit}" if unit else name for name, unit in columns]
