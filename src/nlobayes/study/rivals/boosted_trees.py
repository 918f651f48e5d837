"""Settings of boosted trees."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from nlobayes.settings.values import Fraction, Positive, PositiveInt
from nlobayes.study.rival import SCIKIT_LEARN, RivalSettings


class BoostedTreesRival(RivalSettings):
    """Gradient-boosted trees on histograms of the features, for the mean or for quantiles."""

    library: ClassVar[str | None] = SCIKIT_LEARN

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
