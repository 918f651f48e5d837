"""Scans over the parameters of the MSSM, which choose the points of a simulated table.

`flat` is uniform in every parameter. `log` is uniform in the logarithm of their sizes, from 50 GeV
up, and has more light neutralinos. `fine_tuned` is `flat` with every fourth point drawn from its
fine-tuned tail, where the coupling of a nearly pure higgsino to the Z cancels. The lightest
neutralino of every point has |m| > 46 GeV; if charginos are produced, so does the lighter one.
Masses of sleptons are drawn themselves, uniform or uniform in the logarithm.
"""

from collections.abc import Callable

import numpy as np

from nlobayes.errors import InputError
from nlobayes.physics.mssm import MINIMUM_MASS_GEV, Parameters, charginos, neutralinos
from nlobayes.physics.processes import Process

SCANS = ("flat", "log", "fine_tuned")
RANGES = {
    "bino_gev": (-1000.0, 1000.0),
    "wino_gev": (50.0, 1000.0),
    "higgsino_gev": (-1000.0, 1000.0),
    "tan_beta": (2.0, 60.0),
}
"""Limits of the parameters; `log` draws both signs of a soft mass that may have both."""
SLEPTON_MASSES_GEV = (46.0, 1100.0)
TAIL_STREAM, SQUARK_STREAM = 1, 2
"""Branches of the random numbers of a seed; the scan itself uses the unbranched stream."""
TAIL_EVERY = 4
"""Distance between the points of the scan `fine_tuned` that come from the tail."""
LARGEST_ASYMMETRY, LARGEST_GAUGINO_SHARE = 0.01, 0.1
"""Limits of |N_i3^2 - N_i4^2| and N_i1^2 + N_i2^2 in the tail."""

_LOW, _HIGH = np.array([*RANGES.values()]).T
_SMALLEST_SOFT_MASS_GEV = 50.0
_BATCH = 4096


def stream(seed: int, *branch: int) -> np.random.Generator:
    """Return the random generator of a seed, or of an independent branch of it."""
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=branch)))


def sample_parameters(
    seed: int, count: int, scan: str = "flat", neutralino: int = 1, *, with_charginos: bool = False
) -> Parameters:
    """Draw the points of a scan; a larger sample starts with the same points.

    Raises InputError if the scan is not known.

    Parameters
    ----------
    seed
        Seed, not negative.
    count
        Number of points.
    scan
        Name in `SCANS`.
    neutralino
        Neutralino, counted from 1 for the lightest, that the scan `fine_tuned` tunes.
    with_charginos
        Whether charginos must also be heavier than 46 GeV.
    """
    if scan not in SCANS:
        raise InputError("physics.unknown_scan", scan=scan, known=SCANS)

    def heavy_enough(found: Parameters) -> np.ndarray:
        heavy = np.abs(neutralinos(found).masses_gev[:, 0]) > MINIMUM_MASS_GEV
        if with_charginos:
            heavy &= charginos(found).masses_gev[:, 0] > MINIMUM_MASS_GEV
        return heavy

    def in_tail(found: Parameters) -> np.ndarray:
        masses, mixings = neutralinos(found)
        bino, wino, down, up = mixings[:, neutralino - 1].T ** 2
        cancels = (np.abs(down - up) < LARGEST_ASYMMETRY) & (bino + wino < LARGEST_GAUGINO_SHARE)
        return cancels & (np.abs(masses[:, 0]) > MINIMUM_MASS_GEV)

    draw = _logarithmic if scan == "log" else _uniform
    points = _accepted(stream(seed), count, draw, heavy_enough)
    if scan == "fine_tuned":
        tail = _accepted(stream(seed, TAIL_STREAM), count // TAIL_EVERY, _uniform, in_tail)
        points[TAIL_EVERY - 1 :: TAIL_EVERY] = tail
    return Parameters(*points.T)


def sample_sleptons(seed: int, count: int, scan: str, process: Process) -> dict[str, np.ndarray]:
    """Draw the columns of a process of sleptons (point,); a larger sample starts with the same.

    Masses are independent, but the first of two staus is the lighter one. The left part of a stau
    is uniform, and those of two staus sum to 1.

    Raises InputError if the scan is not `flat` or `log`.
    """
    if scan not in ("flat", "log"):
        raise InputError("physics.unknown_scan", scan=scan, known=("flat", "log"))
    names, (low, high) = process.columns, SLEPTON_MASSES_GEV
    drawn = dict(zip(names, stream(seed).random((count, len(names))).T, strict=True))
    masses = [name for name in names if name.startswith("mass")]
    for name in masses:
        share = drawn[name]
        drawn[name] = low + (high - low) * share if scan == "flat" else low * (high / low) ** share
    if len(names) == 4:  # two staus
        drawn |= dict(zip(masses, np.sort([drawn[name] for name in masses], axis=0), strict=True))
        drawn[names[3]] = 1 - drawn[names[1]]
    return drawn


def in_words(scan: str, *, of_sleptons: bool = False) -> str:
    """Describe a scan, for the metadata of its table."""
    if of_sleptons:
        low, high = SLEPTON_MASSES_GEV
        return f"{scan}; masses {low:g} to {high:g}"
    limits = ", ".join(f"{name} {low:g} to {high:g}" for name, (low, high) in RANGES.items())
    prefix = {"fine_tuned": f"fine_tuned in every {TAIL_EVERY}th row; ", "log": "log; "}
    return prefix.get(scan, "") + limits


def _accepted(
    random: np.random.Generator,
    count: int,
    draw: Callable[[np.ndarray], np.ndarray],
    keep: Callable[[Parameters], np.ndarray],
) -> np.ndarray:
    """Draw candidates from one random sequence until enough are kept, (count, parameter)."""
    kept = np.empty((0, len(RANGES)))
    while len(kept) < count:
        candidates = draw(random.random((_BATCH, len(RANGES))))
        kept = np.concatenate([kept, candidates[keep(Parameters(*candidates.T))]])
    return kept[:count]


def _uniform(uniform: np.ndarray) -> np.ndarray:
    return _LOW + (_HIGH - _LOW) * uniform


def _logarithmic(uniform: np.ndarray) -> np.ndarray:
    """Map uniform numbers to sizes uniform in the logarithm, and signs if a range spans zero."""
    both = _LOW < 0
    position = np.where(both, 2 * uniform - 1, uniform)
    start = np.where(both, _SMALLEST_SOFT_MASS_GEV, _LOW)
    end = np.where(position < 0, -_LOW, _HIGH)
    return np.where(position < 0, -1, 1) * start * (end / start) ** np.abs(position)
