"""Partonic cross sections of one quark, of all exchanges together."""

import numpy as np

from nlobayes.physics.couplings import Quark
from nlobayes.physics.partonic import Pair, born_cross_sections


def born_cross_section(
    pair: Pair, quark: Quark, energy_gev: np.ndarray, squark_mass_gev: float | np.ndarray
) -> np.ndarray:
    of_quarks = born_cross_sections(pair, energy_gev, squark_mass_gev).sum(axis=1)
    found: np.ndarray = of_quarks[pair.quarks.index(quark)]
    return found
