"""A polynomial whose coefficients vary by what it cannot represent (POPS), for data without noise.

Least squares state no uncertainty where noise is small and rows are many, although a polynomial
misses the function. POPS takes the coefficients nearest to the best ones that pass through each
train row: T. D. Swinburne, D. Perez, Machine Learning: Science and Technology 6 (2025) 015008.
"""

from __future__ import annotations

from math import comb
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from pydantic import Field

from nlobayes.rivals import FittedRival, RivalOutput, RivalSettings
from nlobayes.settings.values import PositiveInt

if TYPE_CHECKING:
    import numpy as np


class POPSRival(RivalSettings):
    """A polynomial of the features with pointwise optimal sets of coefficients."""

    library: ClassVar[str | None] = "popsregression"

    kind: Literal["pops"]
    most_degree: Annotated[int, Field(ge=1, le=10)] = 6
    """Largest degree of the polynomial."""
    rows_per_term: PositiveInt = 4
    """Fewest train rows for each of its terms; the degree is the largest that leaves as many."""

    def fit(self, features: np.ndarray, target: np.ndarray) -> FittedRival:
        """Fit the coefficients, and their spread by the ensemble of all rows of high leverage.

        32 quantiles of a Gaussian of the predicted sd serve as draws.
        """
        from popsregression import POPSRegression
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import PolynomialFeatures

        from nlobayes.rivals._quantiles import gaussian_draws

        rows, count = features.shape
        degrees = range(2, self.most_degree + 1)
        terms = {degree: comb(count + degree, degree) for degree in degrees}
        degree = max((n for n in degrees if terms[n] * self.rows_per_term <= rows), default=1)
        polynomial = make_pipeline(
            PolynomialFeatures(degree), POPSRegression(posterior="ensemble")
        ).fit(features, target)

        def predict(points: np.ndarray) -> RivalOutput:
            mean, sd = polynomial.predict(points, return_std=True)
            return RivalOutput(gaussian_draws(mean, sd), sd)

        return FittedRival(predict, {"rows": rows, "degree": degree})
