"""Neutralinos and charginos of the MSSM: masses and mixings at tree level."""

from typing import NamedTuple

import numpy as np

SIN2_THETA_W = 0.2312
Z_MASS_GEV = 91.1876
# Lower limit of the integration: below m_Z / 2 a pair comes from the decay of a real Z.
THRESHOLD_MASS_GEV = Z_MASS_GEV / 2
# Above all scans: the heaviest particle is at most m_Z heavier than the largest soft mass, 1 TeV.
MAXIMUM_MASS_GEV = 1100.0
# Lower limit of the scans.
MINIMUM_MASS_GEV = 46.0


class Parameters(NamedTuple):
    """Soft masses M1 (bino), M2 (wino), mu (higgsino) in GeV and tan beta, each (point,)."""

    bino_gev: np.ndarray
    wino_gev: np.ndarray
    higgsino_gev: np.ndarray
    tan_beta: np.ndarray


class Spectrum(NamedTuple):
    """Signed masses in GeV, (point, 4), lightest |m| first, and the rows of N, (point, 4, 4)."""

    masses_gev: np.ndarray
    mixings: np.ndarray


class Charginos(NamedTuple):
    """Masses in GeV, (point, 2), the lighter first, and the rows of U and V, (point, 2, 2) each."""

    masses_gev: np.ndarray
    left: np.ndarray
    right: np.ndarray


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


def chargino_mass_matrix(parameters: Parameters) -> np.ndarray:
    """Return the mass matrix X in GeV, (point, 2, 2), of (wino-, higgsino-) and (wino+, higgsino+).

    Uses m_W = m_Z cos theta_W, as at tree level; Haber and Kane, Phys. Rept. 117 (1985) 75.
    """
    _, m2, mu, tan_beta = parameters
    angle = np.arctan(tan_beta)
    mixing = np.sqrt(2 * (1 - SIN2_THETA_W)) * Z_MASS_GEV
    rows = [[m2, mixing * np.sin(angle)], [mixing * np.cos(angle), mu]]
    return np.moveaxis(np.array(rows), -1, 0)


def charginos(parameters: Parameters) -> Charginos:
    """Diagonalise U X V^T = diag(m) with real U and V and m >= 0.

    The sign of each row of V makes its largest component positive, and fixes that of the row of U.
    """
    left, masses, right = np.linalg.svd(chargino_mass_matrix(parameters))
    u, v = np.swapaxes(left, -1, -2)[:, ::-1], right[:, ::-1]
    largest = np.argmax(np.abs(v), axis=-1)[..., None]
    sign = np.sign(np.take_along_axis(v, largest, axis=-1))
    return Charginos(masses[:, ::-1], u * sign, v * sign)
