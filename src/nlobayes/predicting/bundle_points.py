"""Predictions of SLHA files by a bundle: a row per file and process, and for the sum of these."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from nlobayes.artifacts.streams import Rows, to_rows
from nlobayes.bundles.embedded import ENGINE, ORDER
from nlobayes.bundles.requests import Order, Processes, pdg_text
from nlobayes.bundles.surrogates import Bundle
from nlobayes.data.slha_blocks import is_slha, to_integers
from nlobayes.data.spectrum_chunks import list_files
from nlobayes.errors import InputError
from nlobayes.predicting.surrogate_points import Tally, Unpredicted
from nlobayes.surrogate.answers import DOMAIN, REASON, quantile_names
from nlobayes.surrogate.cross_section import CrossSection, nothing
from nlobayes.surrogate.theory import MEDIAN_AND_INTERVAL, REGRESSION, SIDES, TOTAL

FILES = 256
"""SLHA files per chunk of rows."""
SUM = "sum"
"""Value of the column `process` in rows of the sum."""
Section = tuple[str, CrossSection]
"""A process in PDG numbers or `SUM`, and its cross section."""


class BundleRequest(NamedTuple):
    """The request for every SLHA file."""

    processes: Processes
    """Pairs of PDG numbers, or `all` of the energy."""
    energy: float | None
    """In GeV; None if all surrogates of the bundle have the same."""
    order: Order
    """QCD order; None for any."""
    all_entries: bool
    """Whether each process has a row for every entry that serves it."""
    engine: bool
    """Whether processes that are outside have a second row, by the embedded engine."""
    total: bool
    """Whether to add a row for the sum."""
    name: str
    """Column name of cross sections."""
    unit: str
    """Their unit."""
    factor: float
    """Factor from pb to this unit."""
    unpredicted: Unpredicted
    """What becomes of processes of a file without a prediction; as for one surrogate."""


def to_pairs(spelled_pairs: Sequence[str] | None) -> Processes:
    """Read pairs of PDG numbers, such as `1000022 1000023`; `all` if none is given.

    Raises InputError if a text is no pair of whole numbers.
    """
    pairs = [(text, to_integers(text.replace(",", " ").split())) for text in spelled_pairs or ()]
    for text, numbers in pairs:
        if numbers is None or len(numbers) != 2:
            raise InputError("commands.no_process", where="--process", text=text)
    return tuple(numbers for _, numbers in pairs if numbers) or "all"


def predicted_by_bundle(
    bundle: Bundle,
    points: str,
    request: BundleRequest,
    tally: Tally,
    passed: Callable[[int, float], None],
) -> Iterator[Rows]:
    """Predict an SLHA file, or all in a folder, and count the rows.

    `passed` is called after each chunk with the number of rows and the share of files done.

    Raises InputError if the points are neither, the bundle lacks a process, the only file is no
    usable spectrum, or a process has no prediction and the request refuses it.
    """
    path = Path(points)
    if not path.is_dir() and not is_slha(path):
        raise InputError("commands.bundle_reads_slha", where=points)
    offered = bundle.offered(request.processes, request.energy, request.order)
    files, folder = list_files(path), path if path.is_dir() else path.parent
    names = {entry.name: entry.order for entries in offered.values() for entry in entries}
    theory = dict.fromkeys(of for name in names for of in bundle.surrogates[name].theory)
    if request.engine:
        names, theory = names | {ENGINE: ORDER}, theory | {"scale": None}
    errors = [f"{source}_{side}" for source in (REGRESSION, *theory, TOTAL) for side in SIDES]
    for first in range(0, len(files), FILES):
        rows = []
        for file in files[first : first + FILES]:
            label, is_row = file.relative_to(folder).as_posix(), file != path
            for name, section in _sections(bundle, file, request, is_row=is_row):
                if _is_kept(f"{file}: {name}", section, request, tally, is_sum=name == SUM):
                    rows.append((label, name, section))
        yield _rows(rows, names, errors, request)
        passed(tally.points, min(1.0, (first + FILES) / len(files)))


def _sections(bundle: Bundle, file: Path, request: BundleRequest, *, is_row: bool) -> list[Section]:
    """Predict each process of a file, and their sum; of a folder, a file may be unusable."""
    chosen = request.processes, request.energy, request.order
    try:
        found = {pdg_text(pair): [one] for pair, one in bundle.predict(file, *chosen).items()}
        if request.all_entries:
            for name in found:
                found[name] = [*bundle.candidates(file, map(int, name.split()), *chosen[1:])]
        if request.engine:
            for pair, one in bundle.predict(file, *chosen, engine=True).items():
                found[pdg_text(pair)] += [one] if one.entry == ENGINE else []
        if request.total:
            found[SUM] = [bundle.total(file, *chosen, engine=request.engine)]
        return [(name, one) for name, several in found.items() for one in several]
    except InputError as error:
        if not is_row or request.unpredicted == "refuse":
            raise error if str(error.where).startswith(str(file)) else error.within(file) from None
        names = [*bundle.named(*chosen), *([SUM] * request.total)]
        return [(name, nothing(error.reason)) for name in names]


def _is_kept(
    place: str, section: CrossSection, request: BundleRequest, tally: Tally, *, is_sum: bool
) -> bool:
    """Count a process, and return whether it is a row of the output; refuse it on request."""
    usable = not math.isnan(section.median)
    if not usable and request.unpredicted == "refuse":
        raise InputError("commands.bad_point", place=place, reason=section.reason)
    if not is_sum:
        tally.count(place, section.domain, section.reason, usable=usable)
        tally.entries |= {section.entry} if usable else set()
    return usable or request.unpredicted == "keep"


def _rows(
    rows: Sequence[tuple[str, str, CrossSection]],
    orders: Mapping[str, str],
    errors: Sequence[str],
    request: BundleRequest,
) -> Rows:
    labels, processes, sections = zip(*rows, strict=True) if rows else ((), (), ())
    values = (
        np.array([section[:3] for section in sections], np.float64).reshape(-1, 3) * request.factor
    )
    names = ("median", *quantile_names(MEDIAN_AND_INTERVAL[1:]))
    return to_rows(
        {
            "file": ("", _words(labels)),
            "process": ("", _words(processes)),
            "entry": ("", _words([section.entry for section in sections])),
            "order": ("", _words([orders.get(section.entry, "") for section in sections])),
        },
        {
            f"{request.name}_{name}": (request.unit, column)
            for name, column in zip(names, values.T, strict=True)
        },
        {f"{name}_rel": ("", _error(name, sections)) for name in errors},
        {
            DOMAIN: ("", _words([section.domain for section in sections])),
            REASON: ("", _words([section.reason for section in sections])),
        },
    )


def _error(name: str, sections: Sequence[CrossSection]) -> np.ndarray:
    """Return one relative error of each cross section; NaN where it is not known."""
    every: list[Mapping[str, float]] = [section.errors for section in sections]
    return np.array([errors.get(name, math.nan) for errors in every], np.float64)


def _words(cells: Sequence[str]) -> np.ndarray:
    return np.array(cells, dtype=object)
