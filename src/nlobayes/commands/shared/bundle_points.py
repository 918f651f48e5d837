"""SLHA files, predicted by a bundle: a row for each file and process, and for the sum of these."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from nlobayes.artifacts.streams import to_batch
from nlobayes.bundles.bundle import Bundle, Processes, spelled
from nlobayes.commands.shared.points import Tally
from nlobayes.data.slha_blocks import to_integers
from nlobayes.data.spectrum_chunks import ENDING, list_files
from nlobayes.errors import InputError
from nlobayes.surrogate.answers import DOMAIN, REASON, quantile_names
from nlobayes.surrogate.conditions import BEYOND
from nlobayes.surrogate.cross_section import CrossSection
from nlobayes.surrogate.domain import NEAR_EDGE, OUTSIDE
from nlobayes.surrogate.surrogate import Surrogate
from nlobayes.surrogate.theory import MEDIAN_AND_INTERVAL, REGRESSION, SIDES, TOTAL

FILES = 256
"""SLHA files that make a chunk of rows."""
SUM = "sum"
"""What the column `process` calls the sum."""


class BundleRequest(NamedTuple):
    """What is stated of every file.

    Attributes
    ----------
    processes
        Pairs of PDG numbers, or all of that energy.
    energy
        In GeV; None where all processes have one.
    total
        Whether a row for their sum follows.
    name, unit, factor
        What cross sections are called, their unit, and what takes pb there.
    skip_bad
        Whether files that cannot be used are left out, not refused.
    """

    processes: Processes
    energy: float | None
    total: bool
    name: str
    unit: str
    factor: float
    skip_bad: bool


def to_pairs(spelled_pairs: Sequence[str] | None) -> Processes:
    """Read pairs of PDG numbers, as `1000022 1000023`; all processes where none is given.

    Raises
    ------
    InputError
        If one is no pair of whole numbers.
    """
    pairs = [(text, to_integers(text.replace(",", " ").split())) for text in spelled_pairs or ()]
    for text, numbers in pairs:
        if numbers is None or len(numbers) != 2:
            raise InputError("commands.no_process", where="--process", text=text)
    return tuple(numbers for _, numbers in pairs if numbers) or "all"


def surrogates_of(bundle: Bundle, asked: BundleRequest) -> dict[str, Surrogate]:
    """Give the requested surrogates; errors as `Bundle.predict`."""
    return bundle.chosen(asked.processes, asked.energy)


def predicted_by_bundle(
    bundle: Bundle,
    points: str,
    asked: BundleRequest,
    tally: Tally,
    passed: Callable[[int, float], None],
) -> Iterator[pa.RecordBatch]:
    """Predict an SLHA file, or all in a folder, count, and report to `passed` how many rows have.

    Raises
    ------
    InputError
        If the points are neither, the bundle lacks a process, or a file cannot be used and is not
        to be left out.
    """
    path = Path(points)
    if not path.is_dir() and path.suffix != ENDING:
        raise InputError("commands.bundle_reads_slha", where=points, ending=ENDING)
    surrogates, files = surrogates_of(bundle, asked), list_files(path)
    folder = path if path.is_dir() else path.parent
    errors = _errors_of([*surrogates.values()])
    for first in range(0, len(files), FILES):
        rows = []
        for file in files[first : first + FILES]:
            label = file.relative_to(folder).as_posix()
            rows += [(label, *row) for row in _rows(bundle, file, asked, tally)]
        yield _batch(rows, errors, asked)
        passed(tally.predicted, min(1.0, (first + FILES) / len(files)))


def _rows(
    bundle: Bundle, file: Path, asked: BundleRequest, tally: Tally
) -> list[tuple[str, CrossSection]]:
    """Predict each process of a file, and their sum."""
    try:
        parts = bundle.predict(file, asked.processes, asked.energy)
    except InputError as error:
        placed = error if str(error.where).startswith(str(file)) else error.within(file)
        if not asked.skip_bad:
            raise placed from None
        tally.skipped += 1
        tally.reason = tally.reason or str(placed)
        return []
    rows = [(spelled(pair), found) for pair, found in parts.items()]
    for name, found in rows:
        _count(f"{file}: {name}", found, tally)
    if asked.total:
        rows.append((SUM, bundle.total(file, asked.processes, asked.energy)))
    return rows


def _count(place: str, found: CrossSection, tally: Tally) -> None:
    tally.predicted += 1
    tally.near_edge += found.domain == NEAR_EDGE
    tally.outside += found.domain == OUTSIDE
    if BEYOND in found.reason:
        tally.violating += 1
        tally.violated = tally.violated or f"{place}: {found.reason}"
    elif found.reason:
        tally.unstated += 1


def _errors_of(surrogates: Sequence[Surrogate]) -> list[str]:
    """Name the errors that any of them knows, those of theory between its own and the total."""
    theory = dict.fromkeys(source for one in surrogates for source in one.theory)
    return [f"{source}_{side}" for source in (REGRESSION, *theory, TOTAL) for side in SIDES]


def _batch(
    rows: Sequence[tuple[str, str, CrossSection]], errors: Sequence[str], asked: BundleRequest
) -> pa.RecordBatch:
    labels, processes, found = zip(*rows, strict=True) if rows else ((), (), ())
    values = np.array([one[:3] for one in found], np.float64).reshape(-1, 3) * asked.factor
    names = ("median", *quantile_names(MEDIAN_AND_INTERVAL[1:]))
    return to_batch(
        {"file": ("", _words(labels)), "process": ("", _words(processes))},
        {
            f"{asked.name}_{name}": (asked.unit, column)
            for name, column in zip(names, values.T, strict=True)
        },
        {f"{name}_rel": ("", _error(name, found)) for name in errors},
        {
            DOMAIN: ("", _words([one.domain for one in found])),
            REASON: ("", _words([one.reason for one in found])),
        },
    )


def _error(name: str, found: Sequence[CrossSection]) -> np.ndarray:
    """Take a relative error of each; NaN where it is not known."""
    every: list[Mapping[str, float]] = [one.errors for one in found]
    return np.array([errors.get(name, math.nan) for errors in every], np.float64)


def _words(cells: Sequence[str]) -> np.ndarray:
    return np.array(cells, dtype=object)
