"""Invariants stretched where the coupling to the Z, or its interference, is near zero."""

from __future__ import annotations

import numpy as np

from nlobayes.data.feature_maps._electroweakinos import (
    ABOVE_THRESHOLD,
    INTERFERENCE_SCALE,
    NEUTRALINO,
    SIGNS_OF_NEUTRALINO,
    THRESHOLD_GEV,
    Z_SCALE,
    allowed,
    mixing_invariants,
    with_squark,
)

COLUMNS: tuple[str, ...] | None = NEUTRALINO
FEATURES: tuple[str, ...] | None = (
    f"ln(|m|-{THRESHOLD_GEV})",
    "N11^2",
    "N12^2",
    "asinh((N13^2-N14^2)/0.005)",
    "asinh(N11*N12/0.02)",
)
ALLOWED = allowed(ABOVE_THRESHOLD)
SIGNS: tuple[tuple[int, ...], ...] = SIGNS_OF_NEUTRALINO


@with_squark(len(NEUTRALINO))
def apply(inputs: np.ndarray) -> np.ndarray:
    """Map mass and mixings."""
    xp = inputs.__array_namespace__()
    above = xp.log(xp.abs(inputs[:, 0]) - THRESHOLD_GEV)
    bino, wino, z_coupling, interference = mixing_invariants(inputs[:, 1:5])
    stretched = (xp.arcsinh(z_coupling / Z_SCALE), xp.arcsinh(interference / INTERFERENCE_SCALE))
    features: np.ndarray = xp.column_stack([above, bino, wino, *stretched])
    return features
