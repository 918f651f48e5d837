"""Reading of one SLHA file as one point: the particles of a process and its cross section."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from nlobayes.data.processes import Process
from nlobayes.data.prospino import BLOCK, RATIOS, Layout, read_rows, succeeded, target_sources
from nlobayes.data.slha import key_of, read_spectrum
from nlobayes.data.slha_blocks import Section, read_sections, read_text, take_blocks
from nlobayes.data.xsections import read_cross_section
from nlobayes.errors import InputError


class SpectrumRequest(NamedTuple):
    """Quantities to read from each SLHA file.

    Attributes
    ----------
    process, sqrt_s_gev
        The pair of particles, and the energy.
    cross_section, layout
        Name of a column of PROSPINO_OUTPUT, and all columns of it.
    absolute
        Whether masses are read without their signs.
    order
        QCD order of blocks XSECTION; if given, these are read instead of PROSPINO_OUTPUT.
    """

    process: Process
    sqrt_s_gev: float
    cross_section: str
    absolute: bool
    layout: Layout
    order: int | None = None

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
    """Result of reading one file.

    Attributes
    ----------
    values
        Features and targets, in the units of the file; None without a usable cross section.
    also
        Columns that not every file has: msq, the mean mass of the light squarks in GeV, and from
        blocks XSECTION lo_pb, scale_up and scale_down in pb.
    failed
        Pairs of particles without a usable cross section at this energy.
    refusal
        Error why the file cannot be read; None if it can.
    """

    values: tuple[float, ...] | None = None
    also: Mapping[str, float] = {}
    failed: tuple[str, ...] = ()
    refusal: InputError | None = None


def read_file(path: Path, request: SpectrumRequest) -> Reading:
    """Read the point of a file; an error becomes the `refusal` of the reading."""
    try:
        return read_point(read_text(path), request, str(path))
    except InputError as error:
        return Reading(refusal=error)


def read_point(text: str, request: SpectrumRequest, source: str) -> Reading:
    """Read the features and cross sections of the requested process, and the pairs that failed.

    Raises
    ------
    InputError
        If the text is no complete spectrum, or a cross section is not in the required format.
    """
    columns = request.process.columns
    sections = read_sections(text, source)
    spectrum = read_spectrum(sections, source, columns)
    features = [spectrum[name] for name in columns]
    if request.absolute:
        features[::5] = map(abs, features[::5])  # each mass is followed by four mixings
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
