"""Shared parts of the feature maps of electroweakinos.

A cross section is invariant under three changes of sign: of a whole row of mixings of a neutralino;
of all masses of a pair; of a row of U, or of V, together with the mass of the chargino. The
features are built from quantities with the same invariance. They are computed by the module of the
given array, NumPy or JAX.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps

import numpy as np

THRESHOLD_GEV = 45.5
"""Just below half the Z mass, where pair production through the Z opens."""

Z_SCALE, INTERFERENCE_SCALE = 0.005, 0.02
"""Scales at which the features of the coupling to the Z, and of its interference, change from
linear to logarithmic."""

NEUTRALINO = ("m", "N11", "N12", "N13", "N14")
"""Mass in GeV, signed, and mixings of one neutralino."""
SIGNS_OF_NEUTRALINO = ((0,), (1, 2, 3, 4))
"""Positions of the mass and of the row of mixings, each of which may change sign."""
INVARIANT_NAMES = ("N11^2", "N12^2", "N13^2-N14^2", "N11*N12")
ABOVE_THRESHOLD = f"|m| above {THRESHOLD_GEV} GeV"

Apply = Callable[[np.ndarray], np.ndarray]


def allowed(masses: str) -> str:
    """List the allowed inputs, from the limits of the masses."""
    return f"finite inputs, {masses}, a mass of the squarks (where given) above the others"


def mixing_invariants(mixing: np.ndarray) -> list[np.ndarray]:
    """Return the products of mixings (row, 4) that no sign of a row changes, each (row,)."""
    n11, n12, n13, n14 = mixing.T
    return [n11**2, n12**2, n13**2 - n14**2, n11 * n12]


def with_squark(width: int) -> Callable[[Apply], Apply]:
    """Add ln of a squark mass behind so many columns, if given; it must exceed all other masses."""

    def extended(apply: Apply) -> Apply:
        @wraps(apply)
        def apply_to_all(inputs: np.ndarray) -> np.ndarray:
            features, xp = apply(inputs), inputs.__array_namespace__()
            if inputs.shape[1] == width:
                return features
            squark, heaviest = inputs[:, -1], xp.abs(inputs[:, :width:5]).max(axis=1)
            logarithm = xp.log(xp.where(squark > heaviest, squark, xp.nan))
            return xp.column_stack([features, logarithm])

        return apply_to_all

    return extended


def mass_features(first: np.ndarray, second: np.ndarray) -> list[np.ndarray]:
    """Return ln(|m1| + |m2| - 91 GeV), and 4 |m1 m2| / (|m1| + |m2|)^2, each (row,)."""
    xp = first.__array_namespace__()
    total = xp.abs(first) + xp.abs(second)
    return [xp.log(total - 2 * THRESHOLD_GEV), 4 * xp.abs(first * second) / total**2]


def relative_sign(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return the sign of the product of two masses (row,)."""
    sign = first.__array_namespace__().sign
    product: np.ndarray = sign(first) * sign(second)
    return product
