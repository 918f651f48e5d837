"""Boosted trees with split-conformal intervals (MAPIE): an oracle of coverage.

Of new rows that are exchangeable with the held-out ones the nominal share lies inside on average,
plus at most 1 / (held-out rows + 1), whatever the trees: J. Lei et al., Journal of the American
Statistical Association 113 (2018) 1094, theorem 2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

from nlobayes.rivals import FittedRival, RivalOutput, RivalSettings
from nlobayes.rivals.boosted_trees import BoostedTreesRival
from nlobayes.settings.values import Fraction

if TYPE_CHECKING:
    import numpy as np

LEVEL = 0.68


class ConformalTreesRival(RivalSettings):
    """The mean of boosted trees, with an interval whose coverage held-out train rows guarantee."""

    library: ClassVar[str | None] = "mapie"
    fewest_rows: ClassVar[int] = 14

    kind: Literal["conformal_trees"]
    held_out: Fraction = 0.25
    """Share of the train rows that set the width of the interval."""

    def fit(self, features: np.ndarray, target: np.ndarray) -> FittedRival:
        """Fit trees with the settings of `boosted_trees`, and the width to the held-out rows.

        The sd is that of a Gaussian with this interval of 68 %, so its coverage at 68 % is that of
        the interval.
        """
        import numpy as np
        from mapie.regression import SplitConformalRegressor
        from scipy.special import ndtri

        order = np.random.default_rng(self.seed).permutation(len(target))
        held, kept = np.split(order, [max(1, round(self.held_out * len(target)))])
        trees = BoostedTreesRival(kind="boosted_trees", seed=self.seed).regressor()
        trees.fit(features[kept], target[kept])
        conformal = SplitConformalRegressor(trees, LEVEL).conformalize(features[held], target[held])

        def predict(points: np.ndarray) -> RivalOutput:
            mean, ends = conformal.predict_interval(points)
            half = np.diff(ends[..., 0], axis=1)[:, 0] / 2
            return RivalOutput(mean[np.newaxis], half / ndtri((1 + LEVEL) / 2))

        return FittedRival(predict, {"rows": len(target)})
