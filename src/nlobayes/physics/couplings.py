"""Couplings and bilinear charges of the Born processes q qbar' -> two electroweakinos or sleptons.

Couplings of H. Haber and G. Kane, Phys. Rept. 117 (1985) 75, and of J. Gunion and H. Haber, Nucl.
Phys. B272 (1986) 1, for real mixings. Rows of N are (bino, wino, down-, up-type higgsino); a
chargino has its row of U, then that of V, each (wino, higgsino). All arguments have the components
on the first axis.

Charges of S. Y. Choi et al. for e+ e-: charginos in hep-ph/0002033, neutralinos in hep-ph/0108117;
here with quarks, and with the W for a neutralino and a chargino, as in W. Beenakker et al.,
hep-ph/9906298, and J. Debove, B. Fuks, M. Klasen, arXiv:0907.1105. In the amplitude the quark makes
the first particle and the antiquark the second one. The first of two charginos is the positive one
for an up-type quark, the negative one for a down-type quark. The first of a neutralino and a
chargino is the chargino. Total rates do not depend on that choice.

Sleptons couple to photon, Z and W as their leptons, as in S. Dawson, E. Eichten, C. Quigg, Phys.
Rev. D31 (1985) 1581, and with mixing in G. Bozzi, B. Fuks, M. Klasen, hep-ph/0411318. Of their
mixing the left part L^2 is enough: that of a sneutrino is 1, and those of two staus sum to 1.
"""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from nlobayes.physics.mssm import SIN2_THETA_W, Z_MASS_GEV

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


ALPHA_MZ = Electroweak(1 / 127.9, SIN2_THETA_W)
SCHEMES = {"alpha_mz": ALPHA_MZ, "g_mu": fermi_scheme(FERMI_CONSTANT, W_MASS_GEV, Z_MASS_GEV)}
"""Couplings by the electroweak scheme: alpha(m_Z) and the effective angle, or G_F, m_W and m_Z."""


class Quark(NamedTuple):
    """Weak isospin and electric charge of a quark."""

    isospin: float
    charge: float


UP_TYPE, DOWN_TYPE = Quark(1 / 2, 2 / 3), Quark(-1 / 2, -1 / 3)


class Charges(NamedTuple):
    """Bilinear charges by chirality of (quark, electroweakino), each (point,).

    Of sleptons, which have no spin, `ll` and `rr` are the charges of left and right quarks.
    """

    ll: np.ndarray
    lr: np.ndarray
    rl: np.ndarray
    rr: np.ndarray


Exchanged = dict[str, Charges]
"""Factor of each propagator in the charges: `photon`, `z`, `w`, and squarks in channels `t`, `u`.

Charges are linear in the propagators, which are S over the denominators.
"""


def left_coupling(
    neutralino: np.ndarray, quark: Quark, scheme: Electroweak = ALPHA_MZ
) -> np.ndarray:
    """Return f_L = T3 N2 + tan(theta_W) (Q - T3) N1, of a left-handed quark with its squark."""
    hypercharge = quark.charge - quark.isospin
    return quark.isospin * neutralino[1] + scheme.tan_theta_w * hypercharge * neutralino[0]


def right_coupling(neutralino: np.ndarray, quark: Quark, scheme: Electroweak) -> np.ndarray:
    """Return f_R = tan(theta_W) Q N1, of a right-handed quark with its squark."""
    return scheme.tan_theta_w * quark.charge * neutralino[0]


def left_w_coupling(neutralino: np.ndarray, chargino: np.ndarray) -> np.ndarray:
    """Return O^L = N_i2 V_j1 - N_i4 V_j2 / sqrt 2."""
    return neutralino[1] * chargino[2] - _ROOT_HALF * neutralino[3] * chargino[3]


def right_w_coupling(neutralino: np.ndarray, chargino: np.ndarray) -> np.ndarray:
    """Return O^R = N_i2 U_j1 + N_i3 U_j2 / sqrt 2."""
    return neutralino[1] * chargino[0] + _ROOT_HALF * neutralino[2] * chargino[1]


def chargino_z_couplings(
    first: np.ndarray, second: np.ndarray, scheme: Electroweak = ALPHA_MZ, *, same: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Return O'^L and O'^R, sin^2(theta_W) delta_ij - X_i1 X_j1 - X_i2 X_j2 / 2 of X = V and U."""
    delta = scheme.sin2_theta_w if same else 0.0
    of_u, of_v = (delta - first[k] * second[k] - first[k + 1] * second[k + 1] / 2 for k in (0, 2))
    return of_v, of_u


def _of_neutralinos(
    first: np.ndarray, second: np.ndarray, quark: Quark, scheme: Electroweak
) -> Exchanged:
    """Return the charges of two neutralinos, given their rows of N (component, point)."""
    sin2, higgsinos = scheme.sin2_theta_w, (first[2] * second[2] - first[3] * second[3]) / 2
    z = higgsinos / (sin2 * scheme.cos2_theta_w)
    z_left = (quark.isospin - quark.charge * sin2) * z
    z_right = -quark.charge * sin2 * z
    left, right = (
        coupling(first, quark, scheme) * coupling(second, quark, scheme) / sin2
        for coupling in (left_coupling, right_coupling)
    )
    zero = 0 * z
    return {
        "z": Charges(ll=z_left, lr=-z_left, rl=z_right, rr=-z_right),
        "t": Charges(ll=zero, lr=left, rl=right, rr=zero),
        "u": Charges(ll=-left, lr=zero, rl=zero, rr=-right),
    }


def _of_charginos(
    first: np.ndarray, second: np.ndarray, quark: Quark, scheme: Electroweak, *, same: bool
) -> Exchanged:
    """Return the charges of a chargino and an antichargino, by photon, Z and squark exchange.

    The squark is the partner of the other quark of the doublet; only left-handed quarks couple to
    it, with U for an up-type quark and V for a down-type one.
    """
    sin2 = scheme.sin2_theta_w
    of_v, of_u = chargino_z_couplings(first, second, scheme, same=same)
    up = quark.isospin > 0
    near, far, squark = (of_v, of_u, 0) if up else (of_u, of_v, 2)
    sign = 1 if up else -1
    z = -sign / (sin2 * scheme.cos2_theta_w)
    left = (quark.isospin - quark.charge * sin2) * z
    right = -quark.charge * sin2 * z
    wino = first[squark] * second[squark] / (2 * sin2)
    zero = 0 * wino
    photon = zero + sign * quark.charge * same
    return {
        "photon": Charges(ll=photon, lr=photon, rl=photon, rr=photon),
        "z": Charges(ll=left * near, lr=left * far, rl=right * near, rr=right * far),
        "t": Charges(ll=zero, lr=wino, rl=zero, rr=zero),
    }


def _of_neutralino_and_chargino(
    neutralino: np.ndarray, chargino: np.ndarray, quark: Quark, scheme: Electroweak
) -> Exchanged:
    """Return the charges of u dbar -> neutralino and positive chargino.

    By CP, d ubar -> neutralino and negative chargino has the same rates.
    """
    del quark
    scale = _ROOT_HALF / scheme.sin2_theta_w
    left = -scale * left_w_coupling(neutralino, chargino)
    right = -scale * right_w_coupling(neutralino, chargino)
    of_up = -scale * left_coupling(neutralino, UP_TYPE, scheme) * chargino[2]
    of_down = scale * left_coupling(neutralino, DOWN_TYPE, scheme) * chargino[0]
    zero = 0 * left
    return {
        "w": Charges(ll=left, lr=right, rl=zero, rr=zero),
        "t": Charges(ll=zero, lr=of_down, rl=zero, rr=zero),
        "u": Charges(ll=of_up, lr=zero, rl=zero, rr=zero),
    }


def _of_sleptons(
    first: np.ndarray,
    second: np.ndarray,
    quark: Quark,
    scheme: Electroweak,
    *,
    isospin: float,
    charge: float,
    same: bool,
) -> Exchanged:
    """Return the charges of a slepton and an antislepton, by photon and Z exchange.

    The coupling to the Z is T3 L_i L_j - Q sin^2(theta_W) delta_ij, in units of e / (sin cos). L_i
    is the left component of a slepton, and T3 and Q are those of its lepton. The sign of L_i L_j of
    unlike sleptons is left out: only the Z couples to them.
    """
    sin2 = scheme.sin2_theta_w
    left_parts = first[0] if same else _root(first[0] * second[0])
    z = (isospin * left_parts - charge * sin2 * same) / (sin2 * scheme.cos2_theta_w)
    zero = 0 * z
    photon = zero + quark.charge * charge * same
    left, right = (quark.isospin - quark.charge * sin2) * z, -quark.charge * sin2 * z
    return {
        "photon": Charges(ll=photon, lr=zero, rl=zero, rr=photon),
        "z": Charges(ll=left, lr=zero, rl=zero, rr=right),
    }


def _of_slepton_and_sneutrino(
    first: np.ndarray, second: np.ndarray, quark: Quark, scheme: Electroweak
) -> Exchanged:
    """Return the charges of u dbar -> antislepton and sneutrino.

    By CP, d ubar -> slepton and antisneutrino has the same rates.
    """
    del quark
    left = _root(first[0] * second[0]) / (2 * scheme.sin2_theta_w)
    zero = 0 * left
    return {"w": Charges(ll=left, lr=zero, rl=zero, rr=zero)}


def _root(values: np.ndarray) -> np.ndarray:
    root: np.ndarray = values.__array_namespace__().sqrt(values)
    return root


_of_charged = partial(_of_sleptons, isospin=-1 / 2, charge=-1.0)

CHARGES_OF: dict[str, Callable[..., Exchanged]] = {
    "neutralinos": _of_neutralinos,
    "charginos": partial(_of_charginos, same=True),
    "unlike_charginos": partial(_of_charginos, same=False),
    "plus": _of_neutralino_and_chargino,
    "minus": _of_neutralino_and_chargino,
    "sleptons": partial(_of_charged, same=True),
    "unlike_sleptons": partial(_of_charged, same=False),
    "sneutrinos": partial(_of_sleptons, isospin=1 / 2, charge=0.0, same=True),
    "slepton_plus": _of_slepton_and_sneutrino,
    "slepton_minus": _of_slepton_and_sneutrino,
}
"""Functions of both mixings, the quark and the scheme that compute the charges, by kind of pair."""
