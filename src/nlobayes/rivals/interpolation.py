"""Interpolation by radial basis functions through every train row (SciPy)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from pydantic import Field

from nlobayes.rivals import FittedRival, RivalOutput, RivalSettings

if TYPE_CHECKING:
    import numpy as np

SMOOTHING = 1e-9
"""Least deviation from the rows, which makes repeated points solvable."""


class InterpolationRival(RivalSettings):
    """Radial basis functions through the train rows: for tables without noise, no error bars."""

    library: ClassVar[str | None] = "scipy"

    kind: Literal["interpolation"]
    kernel: Literal["thin_plate_spline", "cubic", "linear"] = "thin_plate_spline"
    """Form of the functions."""
    most_rows: Annotated[int, Field(ge=10, le=5000)] = 2000
    """Most train rows that it passes through, chosen at random if there are more."""

    def fit(self, features: np.ndarray, target: np.ndarray) -> FittedRival:
        """Solve for the coefficients; `linear` takes the place of a kernel that is singular.

        The others add a plane, which is not unique if features depend on each other.
        """
        import numpy as np
        from scipy.interpolate import RBFInterpolator

        rows = np.sort(np.random.default_rng(self.seed).permutation(len(target))[: self.most_rows])
        kernel: str = self.kernel
        try:
            function = RBFInterpolator(features[rows], target[rows], None, SMOOTHING, kernel)
        except (np.linalg.LinAlgError, ValueError):
            kernel = "linear"
            function = RBFInterpolator(
                features[rows], target[rows], None, SMOOTHING, kernel, degree=0
            )
        return FittedRival(
            lambda points: RivalOutput(function(points)[np.newaxis]),
            {"rows": len(rows), "kernel": kernel},
        )
