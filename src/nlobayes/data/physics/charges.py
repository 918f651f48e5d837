"""Bilinear charges of the Born processes: the factors of the currents of quarks and final states.

Definitions of S. Y. Choi et al. for e+ e-: charginos in hep-ph/0002033, neutralinos in
hep-ph/0108117; here with quarks, and with the W for a neutralino and a chargino. In the amplitude
the quark makes the first particle and the antiquark the second one. The first of two charginos is
the positive one for an up-type quark, the negative one for a down-type quark. The first of a
neutralino and a chargino is the chargino. Total rates do not depend on that choice.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from nlobayes.data.physics.couplings import (
    COS2_THETA_W,
    DOWN_TYPE,
    UP_TYPE,
    W_MASS_GEV,
    W_WIDTH_GEV,
    Z_WIDTH_GEV,
    Quark,
    chargino_z_couplings,
    left_coupling,
    left_w_coupling,
    right_coupling,
    right_w_coupling,
    z_coupling,
)
from nlobayes.data.physics.mssm import SIN2_THETA_W, Z_MASS_GEV

_ROOT_HALF = np.sqrt(0.5)


class Charges(NamedTuple):
    """Bilinear charges by chirality of (quark, electroweakino), (point, energy, cosine)."""

    ll: np.ndarray
    lr: np.ndarray
    rl: np.ndarray
    rr: np.ndarray


class Channels(NamedTuple):
    """S, and S over the denominators of squarks in the t and u channel, (point, energy, cosine)."""

    s: np.ndarray
    t: np.ndarray
    u: np.ndarray

    @property
    def z(self) -> np.ndarray:
        """S over the denominator of the Z."""
        return self.s / (self.s - Z_MASS_GEV**2 + 1j * Z_MASS_GEV * Z_WIDTH_GEV)

    @property
    def w(self) -> np.ndarray:
        """S over the denominator of the W."""
        return self.s / (self.s - W_MASS_GEV**2 + 1j * W_MASS_GEV * W_WIDTH_GEV)


class RealChannels(NamedTuple):
    """S over the denominators of Z, W and squarks, or their imaginary parts, as `Channels`."""

    z: Any
    w: Any
    t: Any
    u: Any


def of_neutralinos(
    first: np.ndarray, second: np.ndarray, quark: Quark, channels: Channels | RealChannels
) -> Charges:
    """Return the charges of two neutralinos, given their rows of N (component, point)."""
    z = _column(z_coupling(first, second) / (SIN2_THETA_W * COS2_THETA_W)) * channels.z
    z_left = (quark.isospin - quark.charge * SIN2_THETA_W) * z
    z_right = -quark.charge * SIN2_THETA_W * z
    left = _column(left_coupling(first, quark) * left_coupling(second, quark) / SIN2_THETA_W)
    right = _column(right_coupling(first, quark) * right_coupling(second, quark) / SIN2_THETA_W)
    return Charges(
        ll=z_left - channels.u * left,
        lr=-z_left + channels.t * left,
        rl=z_right + channels.t * right,
        rr=-z_right - channels.u * right,
    )


def of_charginos(
    first: np.ndarray,
    second: np.ndarray,
    quark: Quark,
    channels: Channels | RealChannels,
    *,
    same: bool,
) -> Charges:
    """Return the charges of a chargino and an antichargino, by photon, Z and squark exchange.

    The squark is the partner of the other quark of the doublet; only left-handed quarks couple to
    it, with U for an up-type quark and V for a down-type one.
    """
    of_v, of_u = chargino_z_couplings(first, second, same=same)
    up = quark.isospin > 0
    near, far, squark = (of_v, of_u, 0) if up else (of_u, of_v, 2)
    sign = 1 if up else -1
    photon = sign * quark.charge * same
    z = -sign * channels.z / (SIN2_THETA_W * COS2_THETA_W)
    left = (quark.isospin - quark.charge * SIN2_THETA_W) * z
    right = -quark.charge * SIN2_THETA_W * z
    wino = _column(first[squark] * second[squark] / (2 * SIN2_THETA_W))
    return Charges(
        ll=photon + left * _column(near),
        lr=photon + left * _column(far) + channels.t * wino,
        rl=photon + right * _column(near),
        rr=photon + right * _column(far),
    )


def of_neutralino_and_chargino(
    neutralino: np.ndarray, chargino: np.ndarray, quark: Quark, channels: Channels | RealChannels
) -> Charges:
    """Return the charges of u dbar -> neutralino and positive chargino.

    By CP, d ubar -> neutralino and negative chargino has the same rates.
    """
    del quark
    scale = _ROOT_HALF / SIN2_THETA_W
    w = channels.w
    of_up = left_coupling(neutralino, UP_TYPE) * chargino[2]
    of_down = left_coupling(neutralino, DOWN_TYPE) * chargino[0]
    left = -w * _column(left_w_coupling(neutralino, chargino)) - channels.u * _column(of_up)
    right = -w * _column(right_w_coupling(neutralino, chargino)) + channels.t * _column(of_down)
    zero = 0 * left
    return Charges(ll=scale * left, lr=scale * right, rl=zero, rr=zero)


BY_KIND: dict[str, Callable[..., Charges]] = {
    "neutralinos": of_neutralinos,
    "charginos": lambda *given: of_charginos(*given, same=True),
    "unlike_charginos": lambda *given: of_charginos(*given, same=False),
    "plus": of_neutralino_and_chargino,
    "minus": of_neutralino_and_chargino,
}
"""Functions that compute the charges, by the kind of a pair."""


def in_real_parts(
    kind: str, first: Any, second: Any, quark: Quark, channels: Channels
) -> tuple[Charges, Charges]:
    """Return real and imaginary parts of charges, for libraries without complex numbers.

    Charges are linear in the propagators of Z and W, which alone are complex; those of the photon
    and the squarks are real.
    """
    of, (s, t, u) = BY_KIND[kind], channels
    z, w = (
        _parts(s, mass, width)
        for mass, width in ((Z_MASS_GEV, Z_WIDTH_GEV), (W_MASS_GEV, W_WIDTH_GEV))
    )
    zero = 0 * t
    real, imaginary, photon = (
        of(first, second, quark, RealChannels(*each))
        for each in ((z[0], w[0], t, u), (z[1], w[1], zero, zero), (zero,) * 4)
    )
    return real, Charges(*(one - other for one, other in zip(imaginary, photon, strict=True)))


def _parts(s: Any, mass_gev: float, width_gev: float) -> tuple[Any, Any]:
    """Split S / (S - m^2 + i m Gamma) into its real and imaginary part."""
    near, far = s - mass_gev**2, mass_gev * width_gev
    scale = s / (near**2 + far**2)
    return scale * near, -scale * far


def _column(values: Any) -> np.ndarray:
    """Shape values per point for the axes (point, energy, cosine)."""
    column: np.ndarray = values[:, None, None]
    return column
