"""Bilinear charges of the Born processes: the factors of the currents of quarks and final states.

Definitions of S. Y. Choi et al. for e+ e-: charginos in hep-ph/0002033, neutralinos in
hep-ph/0108117; here with quarks, and with the W for a neutralino and a chargino. In the amplitude
the quark makes the first particle and the antiquark the second one. The first of two charginos is
the positive one for an up-type quark, the negative one for a down-type quark. The first of a
neutralino and a chargino is the chargino. Total rates do not depend on that choice.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from nlobayes.data.physics.couplings import (
    DOWN_TYPE,
    UP_TYPE,
    Electroweak,
    Quark,
    chargino_z_couplings,
    left_coupling,
    left_w_coupling,
    right_coupling,
    right_w_coupling,
    z_coupling,
)

_ROOT_HALF = np.sqrt(0.5)


class Charges(NamedTuple):
    """Bilinear charges by chirality of (quark, electroweakino), each (point,)."""

    ll: np.ndarray
    lr: np.ndarray
    rl: np.ndarray
    rr: np.ndarray


Exchanged = dict[str, Charges]
"""Factor of each propagator in the charges: `photon`, `z`, `w`, and squarks in channels `t`, `u`.

Charges are linear in the propagators, which are S over the denominators.
"""


def of_neutralinos(
    first: np.ndarray, second: np.ndarray, quark: Quark, scheme: Electroweak
) -> Exchanged:
    """Return the charges of two neutralinos, given their rows of N (component, point)."""
    sin2 = scheme.sin2_theta_w
    z = z_coupling(first, second) / (sin2 * scheme.cos2_theta_w)
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


def of_charginos(
    first: np.ndarray, second: np.ndarray, quark: Quark, scheme: Electroweak, *, same: bool
) -> Exchanged:
    """Return the charges of a chargino and an antichargino, by photon, Z and squark exchange.

    The squark is the partner of the other quark of the doublet; only left-handed quarks couple to
    it, with U for an up-type quark and V for a down-type one.
    """
    of_v, of_u = chargino_z_couplings(first, second, scheme, same=same)
    sin2 = scheme.sin2_theta_w
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


def of_neutralino_and_chargino(
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


BY_KIND: dict[str, Callable[..., Exchanged]] = {
    "neutralinos": of_neutralinos,
    "charginos": lambda *given: of_charginos(*given, same=True),
    "unlike_charginos": lambda *given: of_charginos(*given, same=False),
    "plus": of_neutralino_and_chargino,
    "minus": of_neutralino_and_chargino,
}
"""Functions that compute the charges, by the kind of a pair."""
