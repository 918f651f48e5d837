"""The mass, the gaugino shares, and the fractions of Born by Z exchange and interference.

For targets that are learned relative to a calculation. A ratio such as NLO over Born is the mean of
the ratios of the channels, weighted by their fractions, so it is smooth in the fractions. The
fractions are those of two equal neutralinos at 13 TeV, with squarks of 3 TeV if none are given.
"""

from __future__ import annotations

import numpy as np

from nlobayes.data.feature_maps._electroweakinos import (
    NEUTRALINO,
    SIGNS_OF_NEUTRALINO,
    allowed,
    with_squark,
)
from nlobayes.physics.hadronic import ALLOWED as COMPUTABLE
from nlobayes.physics.hadronic import channels_at
from nlobayes.physics.partonic import identical_pair

COLUMNS: tuple[str, ...] | None = NEUTRALINO
FEATURES: tuple[str, ...] | None = (
    "ln|m|",
    "N11^2",
    "N12^2",
    "Z exchange / Born",
    "interference / Born",
)
ALLOWED = allowed(COMPUTABLE)
SIGNS: tuple[tuple[int, ...], ...] = SIGNS_OF_NEUTRALINO

SQRT_S_TEV, SQUARK_MASS_GEV = 13.0, 3000.0


@with_squark(len(NEUTRALINO))
def apply(inputs: np.ndarray) -> np.ndarray:
    """Map mass and mixings, and a squark mass if the inputs have one."""
    mass, bino, wino, xp = inputs[:, 0], inputs[:, 1], inputs[:, 2], inputs.__array_namespace__()
    squarks = inputs[:, 5] if inputs.shape[1] == 6 else xp.full_like(mass, SQUARK_MASS_GEV)
    fractions = channels_at(identical_pair(mass, inputs[:, 1:5]), squarks, SQRT_S_TEV)
    features: np.ndarray = xp.column_stack([xp.log(xp.abs(mass)), bino**2, wino**2, *fractions])
    return features
