"""Feature maps from inputs to what the network sees, one file each, by name.

The settings take the names from here, so importing this package imports no numerics.
"""

from __future__ import annotations

from typing import Any, Protocol

from nlobayes.families import Family


class FeatureMap(Protocol):
    """Interface that the file of a feature map implements."""

    COLUMNS: tuple[str, ...] | None
    """Columns expected, in order; None for any. The squark mass may follow them."""

    FEATURES: tuple[str, ...] | None
    """Names of the features; None for the names of the columns. The feature of the squark mass
    follows them."""

    ALLOWED: str
    """Inputs at which the features are finite."""

    SIGNS: tuple[tuple[int, ...], ...]
    """Columns, by position, that may change sign together without any change of the features. SLHA
    files leave the sign of each row of mixings free, and these groups are that freedom."""

    def apply(self, inputs: Any) -> Any:
        """Map inputs (row, column) to features (row, feature), both arrays of float64.

        Maps that call the functions of `inputs.__array_namespace__()` also support JAX.
        """
        ...


FEATURE_MAPS: Family[FeatureMap] = Family(__name__, __file__)
