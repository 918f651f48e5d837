"""Neutralinos of the MSSM: tree-level masses and mixings, and the scan over the parameters."""

from typing import NamedTuple

import numpy as np

from nlobayes.errors import InputError

SIN2_THETA_W = 0.2312
Z_MASS_GEV = 91.1876
# Below m_Z / 2 a pair comes from the decay of a real Z: the scan and the integration stop above.
MINIMUM_MASS_GEV = 46.0

_LARGEST_SOFT_MASS_GEV = 1000.0
_TAN_BETA_RANGE = (1.0, 100.0)
_BATCH = 4096
_LEAST_ACCEPTANCE = 0.01


class Parameters(NamedTuple):
    """Soft masses M1 (bino), M2 (wino), mu (higgsino) in GeV and tan beta, each (point,)."""

    bino_gev: np.ndarray
    wino_gev: np.ndarray
    higgsino_gev: np.ndarray
    tan_beta: np.ndarray


class ScanRanges(NamedTuple):
    """Limits of the flat scan: soft masses in GeV, at most 1 TeV in size, and tan beta."""

    bino_gev: tuple[float, float] = (-1000.0, 1000.0)
    wino_gev: tuple[float, float] = (50.0, 1000.0)
    higgsino_gev: tuple[float, float] = (-1000.0, 1000.0)
    tan_beta: tuple[float, float] = (2.0, 60.0)


class Spectrum(NamedTuple):
    """Signed masses in GeV, (point, 4), lightest |m| first, and the rows of N, (point, 4, 4)."""

    masses_gev: np.ndarray
    mixings: np.ndarray


def mass_matrix(parameters: Parameters) -> np.ndarray:
    """Return the symmetric mass matrix in GeV, (point, 4, 4).

    The basis is (bino, wino, down-type higgsino, up-type higgsino), e.g. Haber and Kane,
    Phys. Rept. 117 (1985) 75.
    """
    m1, m2, mu, tan_beta = parameters
    sin_w, cos_w = np.sqrt(SIN2_THETA_W), np.sqrt(1 - SIN2_THETA_W)
    angle = np.arctan(tan_beta)
    sin_b, cos_b = Z_MASS_GEV * np.sin(angle), Z_MASS_GEV * np.cos(angle)
    zero = np.zeros_like(m1)
    rows = [
        [m1, zero, -cos_b * sin_w, sin_b * sin_w],
        [zero, m2, cos_b * cos_w, -sin_b * cos_w],
        [-cos_b * sin_w, cos_b * cos_w, zero, -mu],
        [sin_b * sin_w, -sin_b * cos_w, -mu, zero],
    ]
    return np.moveaxis(np.array(rows), -1, 0)


def spectrum(parameters: Parameters) -> Spectrum:
    """Diagonalise N M N^T = diag(m) with real N and signed m.

    The sign of each row of N makes its largest component positive.
    """
    masses, vectors = np.linalg.eigh(mass_matrix(parameters))
    order = np.argsort(np.abs(masses), axis=-1)
    masses = np.take_along_axis(masses, order, axis=-1)
    rows = np.take_along_axis(np.swapaxes(vectors, -1, -2), order[..., None], axis=-2)
    largest = np.argmax(np.abs(rows), axis=-1)[..., None]
    return Spectrum(masses, rows * np.sign(np.take_along_axis(rows, largest, axis=-1)))


def sample_parameters(rng: np.random.Generator, count: int, ranges: ScanRanges) -> Parameters:
    """Draw points flat in the ranges, kept only if the lightest neutralino has |m| > 46 GeV.

    Candidates are drawn in one sequence, so the first points of a larger sample are the same.

    Raises
    ------
    InputError
        If a range is empty or outside its limits, or fewer than 1 % of the points are kept.
    """
    _check_ranges(ranges)
    low, high = np.array(ranges, dtype=float).T
    kept, drawn = np.empty((0, 4)), 0
    while len(kept) < count:
        candidates = low + (high - low) * rng.random((_BATCH, 4))
        lightest = spectrum(Parameters(*candidates.T)).masses_gev[:, 0]
        kept = np.concatenate([kept, candidates[np.abs(lightest) > MINIMUM_MASS_GEV]])
        drawn += _BATCH
        if len(kept) < _LEAST_ACCEPTANCE * drawn:
            raise InputError(
                f"the scan {ranges} keeps {len(kept)} of {drawn} points with |m1| > "
                f"{MINIMUM_MASS_GEV:g} GeV, at least 1 % is needed; allow larger soft masses."
            )
    return Parameters(*kept[:count].T)


def _check_ranges(ranges: ScanRanges) -> None:
    limit = (-_LARGEST_SOFT_MASS_GEV, _LARGEST_SOFT_MASS_GEV)
    limits = ScanRanges(limit, limit, limit, _TAN_BETA_RANGE)
    for name, (low, high), (least, most) in zip(ranges._fields, ranges, limits, strict=True):
        if not least <= low < high <= most:
            raise InputError(
                f"scan range {name} must increase and lie within {least:g} to {most:g}, "
                f"received {low!r} to {high!r}; correct its limits."
            )
