"""Couplings of electroweakinos to quark and squark, to the Z and to the W, for real mixings.

Couplings of H. Haber and G. Kane, Phys. Rept. 117 (1985) 75, and of J. Gunion and H. Haber, Nucl.
Phys. B272 (1986) 1, as in W. Beenakker et al., hep-ph/9906298, and J. Debove, B. Fuks, M. Klasen,
arXiv:0907.1105. Rows of N are (bino, wino, down-, up-type higgsino). A chargino has its row of U,
then that of V, each (wino, higgsino). The first axis of all arguments has the components.
"""

from typing import NamedTuple

import numpy as np

from nlobayes.data.physics.mssm import SIN2_THETA_W, Z_MASS_GEV

Z_WIDTH_GEV = 2.4952
W_MASS_GEV, W_WIDTH_GEV = 80.379, 2.085
FERMI_CONSTANT = 1.1663787e-5
"""G_F in GeV^-2."""

_ROOT_HALF = np.sqrt(0.5)


class Electroweak(NamedTuple):
    """Electromagnetic coupling and sin^2(theta_W) of a scheme."""

    alpha: float
    sin2_theta_w: float

    @property
    def cos2_theta_w(self) -> float:
        """Return cos^2(theta_W)."""
        return 1 - self.sin2_theta_w

    @property
    def tan_theta_w(self) -> float:
        """Return tan(theta_W)."""
        return np.sqrt(self.sin2_theta_w / self.cos2_theta_w)


def fermi_scheme(fermi_constant: float, w_mass_gev: float, z_mass_gev: float) -> Electroweak:
    """Return alpha = sqrt 2 G_F m_W^2 s / pi with s = 1 - m_W^2 / m_Z^2."""
    sin2_theta_w = 1 - (w_mass_gev / z_mass_gev) ** 2
    alpha = np.sqrt(2) * fermi_constant * w_mass_gev**2 * sin2_theta_w / np.pi
    return Electroweak(float(alpha), sin2_theta_w)


SCHEMES = {
    "alpha_mz": Electroweak(1 / 127.9, SIN2_THETA_W),
    "g_mu": fermi_scheme(FERMI_CONSTANT, W_MASS_GEV, Z_MASS_GEV),
}
"""Couplings by the electroweak scheme: alpha(m_Z) and the effective angle, or G_F, m_W and m_Z."""


class Quark(NamedTuple):
    """Weak isospin and electric charge of a quark."""

    isospin: float
    charge: float


UP_TYPE = Quark(1 / 2, 2 / 3)
DOWN_TYPE = Quark(-1 / 2, -1 / 3)


def left_coupling(
    neutralino: np.ndarray, quark: Quark, scheme: Electroweak = SCHEMES["alpha_mz"]
) -> np.ndarray:
    """Return f_L = T3 N2 + tan(theta_W) (Q - T3) N1, of a left-handed quark with its squark."""
    hypercharge = quark.charge - quark.isospin
    return quark.isospin * neutralino[1] + scheme.tan_theta_w * hypercharge * neutralino[0]


def right_coupling(neutralino: np.ndarray, quark: Quark, scheme: Electroweak) -> np.ndarray:
    """Return f_R = tan(theta_W) Q N1, of a right-handed quark with its squark."""
    return scheme.tan_theta_w * quark.charge * neutralino[0]


def z_coupling(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return (N_i3 N_j3 - N_i4 N_j4) / 2 of two neutralinos."""
    return (first[2] * second[2] - first[3] * second[3]) / 2


def left_w_coupling(neutralino: np.ndarray, chargino: np.ndarray) -> np.ndarray:
    """Return O^L = N_i2 V_j1 - N_i4 V_j2 / sqrt 2."""
    return neutralino[1] * chargino[2] - _ROOT_HALF * neutralino[3] * chargino[3]


def right_w_coupling(neutralino: np.ndarray, chargino: np.ndarray) -> np.ndarray:
    """Return O^R = N_i2 U_j1 + N_i3 U_j2 / sqrt 2."""
    return neutralino[1] * chargino[0] + _ROOT_HALF * neutralino[2] * chargino[1]


def chargino_z_couplings(
    first: np.ndarray,
    second: np.ndarray,
    scheme: Electroweak = SCHEMES["alpha_mz"],
    *,
    same: bool,
) -> tuple[np.ndarray, np.ndarray]:
    """Return O'^L and O'^R, sin^2(theta_W) delta_ij - X_i1 X_j1 - X_i2 X_j2 / 2 of X = V and U."""
    delta = scheme.sin2_theta_w if same else 0.0
    of_u, of_v = (delta - first[k] * second[k] - first[k + 1] * second[k + 1] / 2 for k in (0, 2))
    return of_v, of_u
