"""One SLHA file as one point: the particles of a process, and its cross section in that file."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from nlobayes.data.processes import Process
from nlobayes.data.prospino import BLOCK, RATIOS, Layout, read_rows, succeeded, target_sources
from nlobayes.data.slha import blocks_of, key_of, read_spectrum
from nlobayes.data.slha_blocks import Section, read_sections, read_text, take_blocks
from nlobayes.data.xsections import read_cross_section
from nlobayes.errors import InputError


class SpectrumRequest(NamedTuple):
    """The request to a file.

    Attributes
    ----------
    process, sqrt_s_gev
        The pair of particles, and the energy.
    cross_section, layout
        Name of a column of PROSPINO_OUTPUT, and all columns of it.
    absolute
        Whether masses lose their signs.
    order
        QCD order of blocks XSECTION, which are read in place of PROSPINO_OUTPUT where it is given.
    """

    process: Process
    sqrt_s_gev: float
    cross_section: str
    absolute: bool
    layout: Layout
    order: int | None = None

    @property
    def sources(self) -> dict[str, str]:
        """Columns of the table that every point has, and what the file calls them."""
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
    """What one file gave.

    Attributes
    ----------
    values
        Features and targets, in the units of the file; None without a usable cross section.
    also
        Columns that not every file has: msq, the mean mass of the light squarks in GeV, and of
        blocks XSECTION lo_pb, scale_up and scale_down in pb.
    failed
        Pairs of particles of this energy without a usable cross section.
    refusal
        Why the file cannot be read; None where it can.
    """

    values: tuple[float, ...] | None = None
    also: Mapping[str, float] = {}
    failed: tuple[str, ...] = ()
    refusal: InputError | None = None


def read_file(path: Path, asked: SpectrumRequest) -> Reading:
    """Read the point of a file; the reading names its errors."""
    try:
        return read_point(read_text(path), asked, str(path))
    except InputError as error:
        return Reading(refusal=error)


def read_point(text: str, asked: SpectrumRequest, source: str) -> Reading:
    """Read the features and cross sections of the process requested, and which pairs failed.

    Raises
    ------
    InputError
        If the text is no complete spectrum, or a cross section is not written as it must be.
    """
    wanted = asked.process.columns
    sections = read_sections(text, source)
    spectrum = read_spectrum(take_blocks(sections, blocks_of(wanted), source), source, wanted)
    features = [spectrum[name] for name in wanted]
    if asked.absolute:
        features[::5] = map(abs, features[::5])  # each mass is followed by four mixings
    read = _from_prospino if asked.order is None else _from_xsections
    found = read(sections, asked, source)
    if found.values is None:
        return found
    squarks = {"msq": spectrum["msq"]} if "msq" in spectrum else {}
    return found._replace(values=(*features, *found.values), also={**squarks, **found.also})


def _from_prospino(sections: Sequence[Section], asked: SpectrumRequest, source: str) -> Reading:
    blocks = take_blocks(sections, (BLOCK,), source)
    rows = (
        read_rows(blocks[BLOCK], asked.layout, asked.sqrt_s_gev, source) if BLOCK in blocks else {}
    )
    columns = asked.sources.values()
    failed = [pair for pair, row in rows.items() if not succeeded(row, columns)]
    names = tuple(" ".join(map(str, pair)) for pair in failed)
    pair = key_of(asked.process)
    if pair in failed or pair not in rows:
        return Reading(failed=names)
    return Reading(tuple(rows[pair][column] for column in columns), failed=names)


def _from_xsections(sections: Sequence[Section], asked: SpectrumRequest, source: str) -> Reading:
    assert asked.order is not None
    found = read_cross_section(sections, asked.process, asked.sqrt_s_gev, asked.order, source)
    if found is None:
        return Reading()
    if not 0 < found.value < math.inf:
        return Reading(failed=(" ".join(map(str, key_of(asked.process))),))
    return Reading((found.value,), found.also)
