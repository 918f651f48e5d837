"""A random forest whose leaves give quantiles of an observation (quantile-forest).

N. Meinshausen, Journal of Machine Learning Research 7 (2006) 983.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

from nlobayes.rivals import FittedRival, RivalOutput, RivalSettings
from nlobayes.settings.values import PositiveInt

if TYPE_CHECKING:
    import numpy as np


class QuantileForestRival(RivalSettings):
    """A random forest; the train rows in the leaves of a point are a sample of observations."""

    library: ClassVar[str | None] = "quantile_forest"

    kind: Literal["quantile_forest"]
    trees: PositiveInt = 200
    """Number of trees."""
    least_rows: PositiveInt = 5
    """Fewest train rows of a leaf."""

    def fit(self, features: np.ndarray, target: np.ndarray) -> FittedRival:
        """Grow the trees; 32 quantiles of the rows in the leaves serve as draws."""
        import numpy as np
        from quantile_forest import RandomForestQuantileRegressor

        from nlobayes.rivals._quantiles import LEVELS, SMALLEST_SD

        forest = RandomForestQuantileRegressor(
            n_estimators=self.trees, min_samples_leaf=self.least_rows, random_state=self.seed
        ).fit(features, target)

        def predict(points: np.ndarray) -> RivalOutput:
            draws = forest.predict(points, quantiles=[*LEVELS]).T
            return RivalOutput(draws, np.maximum(draws.std(axis=0), SMALLEST_SD))

        return FittedRival(predict, {"rows": len(target)})
