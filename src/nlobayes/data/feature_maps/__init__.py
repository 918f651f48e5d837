"""What the network sees of the inputs: feature maps, one file each, by name.

The settings take the names from here, so importing this package imports no numerics.
"""

from __future__ import annotations

from typing import Any, Protocol

from nlobayes.families import Family


class FeatureMap(Protocol):
    """Content of the file of a feature map."""

    COLUMNS: tuple[str, ...] | None
    """Columns expected, in order; None for any. The mass of the squarks may follow them."""

    FEATURES: tuple[str, ...] | None
    """Names of the features; None for those of the columns. That of the squarks follows them."""

    ALLOWED: str
    """Inputs at which the features are finite."""

    SIGNS: tuple[tuple[int, ...], ...]
    """Columns, by position, that may change sign together: no feature changes. Whoever writes an
    SLHA file chooses the signs of whole rows of mixings, and these groups are that choice."""

    def apply(self, inputs: Any) -> Any:
        """Map inputs (row, column) to features (row, feature), both arrays of float64.

        Maps that take the functions of `inputs.__array_namespace__()` serve JAX, too.
        """
        ...


FEATURE_MAPS: Family[FeatureMap] = Family(__name__, __file__)
