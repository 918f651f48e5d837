"""Trees boosted by gradients, which learn 32 quantiles of an observation at once (XGBoost).

T. Chen, C. Guestrin, Proceedings of KDD (2016) 785, arXiv:1603.02754.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from pydantic import Field

from nlobayes.rivals import FittedRival, RivalOutput, RivalSettings
from nlobayes.settings.values import Fraction, Positive, PositiveInt

if TYPE_CHECKING:
    import numpy as np


class XGBoostRival(RivalSettings):
    """Boosted trees by the loss of quantiles."""

    library: ClassVar[str | None] = "xgboost"
    fewest_rows: ClassVar[int] = 2

    kind: Literal["xgboost"]
    learning_rate: Positive = 0.1
    """Share of each tree that is added."""
    most_iterations: PositiveInt = 500
    """Most trees of each quantile."""
    most_depth: Annotated[int, Field(ge=1, le=20)] = 4
    """Most splits from the root to a leaf of a tree."""
    patience: PositiveInt = 30
    """Number of iterations without a gain on held-out train rows after which the fit stops."""
    held_out: Fraction = 0.1
    """Share of the train rows that decide when to stop."""

    def fit(self, features: np.ndarray, target: np.ndarray) -> FittedRival:
        """Add trees until the loss of held-out train rows no longer falls.

        The quantiles in order serve as draws.
        """
        import numpy as np
        from xgboost import XGBRegressor

        from nlobayes.rivals._quantiles import LEVELS, SMALLEST_SD

        order = np.random.default_rng(self.seed).permutation(len(target))
        held, kept = np.split(order, [max(1, round(self.held_out * len(target)))])
        trees = XGBRegressor(
            objective="reg:quantileerror",
            quantile_alpha=LEVELS,
            n_estimators=self.most_iterations,
            learning_rate=self.learning_rate,
            max_depth=self.most_depth,
            early_stopping_rounds=self.patience,
            random_state=self.seed,
            n_jobs=1,
        ).fit(
            *(features[kept], target[kept]),
            eval_set=[(features[held], target[held])],
            verbose=False,
        )

        def predict(points: np.ndarray) -> RivalOutput:
            draws = np.sort(trees.predict(points).T.astype(np.float64), axis=0)
            return RivalOutput(draws, np.maximum(draws.std(axis=0), SMALLEST_SD))

        facts = {"rows": len(target), "iterations": int(trees.best_iteration) + 1}
        return FittedRival(predict, facts)
