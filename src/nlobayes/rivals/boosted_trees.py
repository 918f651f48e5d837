"""Trees boosted by gradients, on histograms of the features (scikit-learn).

They learn the mean alone, or quantiles of an observation, by the loss of each quantile.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import Field

from nlobayes.rivals import SCIKIT_LEARN, FittedRival, RivalOutput, RivalSettings
from nlobayes.settings.values import Fraction, Positive, PositiveInt
from nlobayes.untyped import Document

if TYPE_CHECKING:
    import numpy as np

LEVELS = 32
"""Number of the quantiles that represent draws."""


class BoostedTreesRival(RivalSettings):
    """Gradient-boosted trees on histograms of the features, for the mean or for quantiles."""

    library: ClassVar[str | None] = SCIKIT_LEARN
    fewest_rows: ClassVar[int] = 2

    kind: Literal["boosted_trees"]
    quantiles: bool = False
    """Learn 32 quantiles of an observation, used as draws, instead of the mean."""
    learning_rate: Positive = 0.05
    """Share of each tree that is added."""
    most_iterations: PositiveInt = 2000
    """Most trees."""
    most_leaves: Annotated[int, Field(ge=2, le=10_000)] = 15
    """Most leaves of a tree."""
    patience: PositiveInt = 30
    """Number of trees without a gain on held-out train rows after which the fit stops."""
    held_out: Fraction = 0.1
    """Share of the train rows that decide when to stop."""

    def fit(self, features: np.ndarray, target: np.ndarray) -> FittedRival:
        """Add trees until the score of held-out rows of the train split no longer improves."""
        losses: list[Document] = [{}]
        if self.quantiles:
            levels = ((number + 0.5) / LEVELS for number in range(LEVELS))
            losses = [{"loss": "quantile", "quantile": level} for level in levels]
        each = [self.regressor(**loss).fit(features, target) for loss in losses]
        iterations = [int(trees.n_iter_) for trees in each]
        facts: Document = {"rows": len(target)}
        facts["iterations"] = iterations if self.quantiles else iterations[0]
        return FittedRival(lambda points: _predict(each, points), facts)

    def regressor(self, **loss: Any) -> Any:
        """Build a regressor of scikit-learn with these settings."""
        from sklearn.ensemble import HistGradientBoostingRegressor

        return HistGradientBoostingRegressor(
            learning_rate=self.learning_rate,
            max_iter=self.most_iterations,
            max_leaf_nodes=self.most_leaves,
            early_stopping=True,
            validation_fraction=self.held_out,
            n_iter_no_change=self.patience,
            random_state=self.seed,
            **loss,
        )


def _predict(each: Sequence[Any], points: np.ndarray) -> RivalOutput:
    """Predict the mean, or quantiles (level, point) in order: those that cross are sorted."""
    import numpy as np

    from nlobayes.rivals._quantiles import SMALLEST_SD

    draws = np.stack([trees.predict(points) for trees in each])
    if len(each) == 1:
        return RivalOutput(draws)
    draws.sort(axis=0)
    return RivalOutput(draws, np.maximum(draws.std(axis=0), SMALLEST_SD))
