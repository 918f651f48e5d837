"""Neutralinos and charginos of the MSSM: masses and mixings at tree level.

Mass matrices of Haber and Kane, Phys. Rept. 117 (1985) 75, with m_W = m_Z cos theta_W.
"""

from typing import NamedTuple

import numpy as np

SIN2_THETA_W = 0.2312
Z_MASS_GEV = 91.1876
THRESHOLD_MASS_GEV = Z_MASS_GEV / 2
"""Smallest mass that the engine computes: below it a pair comes from the decay of a real Z."""
MAXIMUM_MASS_GEV = 1100.0
"""Mass above those of all scans: particles are at most m_Z heavier than the largest soft mass."""
MINIMUM_MASS_GEV = 46.0
"""Smallest mass in scans."""

Particle = tuple[np.ndarray, np.ndarray]
"""Signed masses in GeV (point,) and mixings (point, 4) of one particle."""


class Parameters(NamedTuple):
    """Soft masses M1 (bino), M2 (wino), mu (higgsino) in GeV and tan beta, each (point,)."""

    bino_gev: np.ndarray
    wino_gev: np.ndarray
    higgsino_gev: np.ndarray
    tan_beta: np.ndarray


class Spectrum(NamedTuple):
    """Particles of one kind, the lightest first: masses in GeV (point, n), mixings (point, n, 4).

    Masses of neutralinos are signed. The mixings of a neutralino are its row of N, those of a
    chargino its row of U, then that of V.
    """

    masses_gev: np.ndarray
    mixings: np.ndarray

    def particle(self, number: int) -> Particle:
        """Select a particle by its number, counted from 1."""
        return self.masses_gev[:, number - 1], self.mixings[:, number - 1]


def mass_matrix(parameters: Parameters) -> np.ndarray:
    """Return the symmetric mass matrix in GeV, (point, 4, 4).

    The basis is (bino, wino, down-type higgsino, up-type higgsino).
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


def neutralinos(parameters: Parameters) -> Spectrum:
    """Diagonalise N M N^T = diag(m) with real N and signed m.

    The sign of each row of N makes its largest component positive.
    """
    masses, vectors = np.linalg.eigh(mass_matrix(parameters))
    order = np.argsort(np.abs(masses), axis=-1)
    masses = np.take_along_axis(masses, order, axis=-1)
    rows = np.take_along_axis(np.swapaxes(vectors, -1, -2), order[..., None], axis=-2)
    return Spectrum(masses, rows * _signs_of_largest(rows))


def chargino_mass_matrix(parameters: Parameters) -> np.ndarray:
    """Return the matrix X in GeV, (point, 2, 2), of (wino-, higgsino-) and (wino+, higgsino+)."""
    _, m2, mu, tan_beta = parameters
    angle = np.arctan(tan_beta)
    mixing = np.sqrt(2 * (1 - SIN2_THETA_W)) * Z_MASS_GEV
    rows = [[m2, mixing * np.sin(angle)], [mixing * np.cos(angle), mu]]
    return np.moveaxis(np.array(rows), -1, 0)


def charginos(parameters: Parameters) -> Spectrum:
    """Diagonalise U X V^T = diag(m) with real U and V and m >= 0.

    The sign of each row of V makes its largest component positive, and fixes that of the row of U.
    """
    left, masses, right = np.linalg.svd(chargino_mass_matrix(parameters))
    u, v = np.swapaxes(left, -1, -2)[:, ::-1], right[:, ::-1]
    return Spectrum(masses[:, ::-1], np.concatenate([u, v], axis=-1) * _signs_of_largest(v))


def _signs_of_largest(rows: np.ndarray) -> np.ndarray:
    largest = np.argmax(np.abs(rows), axis=-1)[..., None]
    return np.sign(np.take_along_axis(rows, largest, axis=-1))
