"""Boosted trees with a conformal predictive distribution at each point (crepes).

H. Boström, Proceedings of Machine Learning Research 179 (2022) 24. The residuals of held-out train
rows give the distribution, divided by the difficulty of a point: the error of its neighbours.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

from nlobayes.rivals import FittedRival, RivalOutput, RivalSettings
from nlobayes.rivals.boosted_trees import BoostedTreesRival
from nlobayes.settings.values import Fraction

if TYPE_CHECKING:
    import numpy as np


NEIGHBOURS = 25
"""Rows whose errors give the difficulty of a point."""


class CrepesRival(RivalSettings):
    """The mean of boosted trees, with quantiles that residuals of held-out train rows set."""

    library: ClassVar[str | None] = "crepes"
    fewest_rows: ClassVar[int] = 3

    kind: Literal["crepes"]
    held_out: Fraction = 0.25
    """Share of the train rows whose residuals set the quantiles."""

    def fit(self, features: np.ndarray, target: np.ndarray) -> FittedRival:
        """Fit trees with the settings of `boosted_trees`, and the distribution of residuals.

        32 quantiles of an observation serve as draws, none beyond the held-out residuals.
        """
        import numpy as np
        from crepes import ConformalPredictiveSystem
        from crepes.extras import DifficultyEstimator

        from nlobayes.rivals._quantiles import LEVELS

        order = np.random.default_rng(self.seed).permutation(len(target))
        held, kept = np.split(order, [max(1, round(self.held_out * len(target)))])
        trees = BoostedTreesRival(kind="boosted_trees", seed=self.seed).regressor()
        trees.fit(features[kept], target[kept])
        errors = target[kept] - trees.predict(features[kept])
        near = max(1, min(NEIGHBOURS, len(kept) - 1))
        difficulty = DifficultyEstimator().fit(
            features[kept], residuals=errors, k=near, scaler=True
        )
        system = ConformalPredictiveSystem().fit(
            target[held] - trees.predict(features[held]), difficulty.apply(features[held])
        )

        fewest = 1.5 / (len(held) + 1)
        percentiles = 100 * np.clip(LEVELS, fewest, 1 - fewest)

        def predict(points: np.ndarray) -> RivalOutput:
            mean, difficult = trees.predict(points), difficulty.apply(points)
            draws = system.predict_percentiles(mean, difficult, higher_percentiles=percentiles).T
            return RivalOutput(draws, draws.std(axis=0))

        return FittedRival(predict, {"rows": len(target)})
