"""Trees boosted by the natural gradient of the log score of a Gaussian at each point (NGBoost).

T. Duan et al., Proceedings of Machine Learning Research 119 (2020) 2690, arXiv:1910.03225.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from pydantic import Field

from nlobayes.rivals import FittedRival, RivalOutput, RivalSettings
from nlobayes.settings.values import Fraction, Positive, PositiveInt

if TYPE_CHECKING:
    import numpy as np


class NGBoostRival(RivalSettings):
    """Trees boosted by natural gradients: mean and sd of an observation, both of each input."""

    library: ClassVar[str | None] = "ngboost"
    fewest_rows: ClassVar[int] = 3

    kind: Literal["ngboost"]
    learning_rate: Positive = 0.02
    """Share of each pair of trees that is added."""
    most_iterations: PositiveInt = 2000
    """Most pairs of trees."""
    most_depth: Annotated[int, Field(ge=1, le=20)] = 3
    """Most splits from the root to a leaf of a tree."""
    patience: PositiveInt = 50
    """Number of iterations without a gain on held-out train rows after which the fit stops."""
    held_out: Fraction = 0.1
    """Share of the train rows that decide when to stop."""

    def fit(self, features: np.ndarray, target: np.ndarray) -> FittedRival:
        """Add trees; predict with those at the best log score of held-out train rows.

        32 quantiles of the Gaussian of an observation serve as draws, as those of other trees do.
        """
        import numpy as np
        from ngboost import NGBRegressor
        from sklearn.tree import DecisionTreeRegressor

        from nlobayes.rivals._quantiles import gaussian_draws

        order = np.random.default_rng(self.seed).permutation(len(target))
        held, kept = np.split(order, [max(1, round(self.held_out * len(target)))])
        boosted = NGBRegressor(
            Base=DecisionTreeRegressor(max_depth=self.most_depth, random_state=self.seed),
            n_estimators=self.most_iterations,
            learning_rate=self.learning_rate,
            random_state=self.seed,
            verbose=False,
        ).fit(
            *(features[kept], target[kept], features[held], target[held]),
            early_stopping_rounds=self.patience,
        )
        iterations = int(boosted.best_val_loss_itr) + 1

        def predict(points: np.ndarray) -> RivalOutput:
            found = boosted.pred_dist(points, max_iter=iterations)
            return RivalOutput(gaussian_draws(found.loc, found.scale), found.scale)

        return FittedRival(predict, {"rows": len(target), "iterations": iterations})
