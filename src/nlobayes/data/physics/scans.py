"""Scans over the parameters of the MSSM, which choose the points of a simulated table.

`flat` is uniform in every parameter. `log` is uniform in the logarithm of their sizes, from 50 GeV
up, and has more light neutralinos. `fine_tuned` is `flat` with every fourth point drawn from its
fine-tuned tail, where the coupling of a nearly pure higgsino to the Z cancels. The lightest
neutralino of every point has |m| > 46 GeV; if charginos are produced, so does the lighter one.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from nlobayes.data.physics.mssm import MINIMUM_MASS_GEV, Parameters, charginos, spectrum
from nlobayes.errors import InputError

SCANS = ("flat", "log", "fine_tuned")
TAIL_STREAM, SQUARK_STREAM = 1, 2
"""Branches of the random numbers of a seed; the scan itself uses the unbranched stream."""
TAIL_EVERY = 4
"""Distance between the points of the scan `fine_tuned` that come from the tail."""
LARGEST_ASYMMETRY, LARGEST_GAUGINO_SHARE = 0.01, 0.1
"""Limits of |N_i3^2 - N_i4^2| and N_i1^2 + N_i2^2 in the tail."""
LARGEST_SOFT_MASS_GEV = 1000.0

_TAN_BETA_RANGE = (1.0, 100.0)
_SMALLEST_SOFT_MASS_GEV = 50.0
_BATCH = 4096


class ScanRanges(NamedTuple):
    """Limits of a scan: soft masses in GeV, at most 1 TeV in size, and tan beta."""

    bino_gev: tuple[float, float] = (-1000.0, 1000.0)
    wino_gev: tuple[float, float] = (50.0, 1000.0)
    higgsino_gev: tuple[float, float] = (-1000.0, 1000.0)
    tan_beta: tuple[float, float] = (2.0, 60.0)


DEFAULT_RANGES = ScanRanges()


class _Proposal(NamedTuple):
    """Draw of candidates from uniform numbers, condition to keep one, least share of kept ones."""

    draw: Callable[[np.ndarray, ScanRanges], np.ndarray]
    keep: Callable[[Parameters], np.ndarray]
    least_share: float


def stream(seed: int, *branch: int) -> np.random.Generator:
    """Return the random generator of a seed, or of an independent branch of it."""
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=branch)))


def sample_parameters(
    seed: int,
    count: int,
    scan: str = "flat",
    ranges: ScanRanges = DEFAULT_RANGES,
    neutralino: int = 1,
    *,
    with_charginos: bool = False,
) -> Parameters:
    """Draw the points of a scan; a larger sample starts with the same points.

    Parameters
    ----------
    seed
        Seed, not negative.
    count
        Number of points.
    scan
        Name in `SCANS`.
    ranges
        Limits of the parameters; if a soft mass may have both signs, `log` draws both.
    neutralino
        Neutralino, counted from 1 for the lightest, that the scan `fine_tuned` tunes.
    with_charginos
        Whether charginos must also be heavier than 46 GeV.

    Raises
    ------
    InputError
        If the scan is not known, a range is empty or outside its limits, or too few candidates are
        kept for the scan to end.
    """
    _check(scan, ranges)
    draw = _logarithmic if scan == "log" else _uniform
    keep = _all_heavy_enough if with_charginos else _heavy_enough
    points = _accepted(stream(seed), count, ranges, _Proposal(draw, keep, 1e-2))
    if scan == "fine_tuned":
        tail = _Proposal(_uniform, lambda found: _fine_tuned(found, neutralino), 1e-4)
        rows = slice(TAIL_EVERY - 1, None, TAIL_EVERY)
        points[rows] = _accepted(stream(seed, TAIL_STREAM), count // TAIL_EVERY, ranges, tail)
    return Parameters(*points.T)


def in_words(scan: str, ranges: ScanRanges) -> str:
    """Describe a scan, for the metadata of its table."""
    limits = ", ".join(
        f"{name} {low:g} to {high:g}" for name, (low, high) in ranges._asdict().items()
    )
    prefix = {"fine_tuned": f"fine_tuned in every {TAIL_EVERY}th row; ", "log": "log; "}
    return prefix.get(scan, "") + limits


def _accepted(
    random: np.random.Generator, count: int, ranges: ScanRanges, proposal: _Proposal
) -> np.ndarray:
    """Draw candidates from one random sequence until enough are kept, (count, parameter)."""
    kept, drawn = np.empty((0, 4)), 0
    while len(kept) < count:
        if drawn > (count + 100) / proposal.least_share:
            raise InputError(
                "physics.scan_keeps_few",
                ranges=in_words("flat", ranges),
                kept=len(kept),
                drawn=drawn,
                least_share=proposal.least_share,
            )
        candidates = proposal.draw(random.random((_BATCH, 4)), ranges)
        kept = np.concatenate([kept, candidates[proposal.keep(Parameters(*candidates.T))]])
        drawn += _BATCH
    return kept[:count]


def _uniform(uniform: np.ndarray, ranges: ScanRanges) -> np.ndarray:
    low, high = np.array(ranges, dtype=float).T
    return low + (high - low) * uniform


def _logarithmic(uniform: np.ndarray, ranges: ScanRanges) -> np.ndarray:
    """Map uniform numbers to sizes uniform in the logarithm, and signs if a range spans zero."""
    low, high = np.array(ranges, dtype=float).T
    both = low < 0
    position = np.where(both, 2 * uniform - 1, uniform)
    start = np.where(both, _SMALLEST_SOFT_MASS_GEV, low)
    end = np.where(position < 0, -low, high)
    return np.where(position < 0, -1, 1) * start * (end / start) ** np.abs(position)


def _heavy_enough(candidates: Parameters) -> np.ndarray:
    return np.abs(spectrum(candidates).masses_gev[:, 0]) > MINIMUM_MASS_GEV


def _all_heavy_enough(candidates: Parameters) -> np.ndarray:
    heavy = charginos(candidates).masses_gev[:, 0] > MINIMUM_MASS_GEV
    return _heavy_enough(candidates) & heavy


def _fine_tuned(candidates: Parameters, neutralino: int) -> np.ndarray:
    found = spectrum(candidates)
    bino, wino, down, up = found.mixings[:, neutralino - 1].T ** 2
    cancels = (np.abs(down - up) < LARGEST_ASYMMETRY) & (bino + wino < LARGEST_GAUGINO_SHARE)
    return cancels & (np.abs(found.masses_gev[:, 0]) > MINIMUM_MASS_GEV)


def _check(scan: str, ranges: ScanRanges) -> None:
    if scan not in SCANS:
        raise InputError("physics.unknown_scan", scan=scan, known=SCANS)
    limit = (-LARGEST_SOFT_MASS_GEV, LARGEST_SOFT_MASS_GEV)
    limits = ScanRanges(limit, limit, limit, _TAN_BETA_RANGE)
    for name, (low, high), (least, most) in zip(ranges._fields, ranges, limits, strict=True):
        if not least <= low < high <= most:
            raise InputError(
                "physics.scan_range", name=name, least=least, most=most, low=low, high=high
            )
