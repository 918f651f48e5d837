"""What scores take: the predicted numbers, or the predicted classes, of a split."""

from typing import NamedTuple

import numpy as np

from nlobayes.evaluation.predictive.density import PredictiveNoise


class Split(NamedTuple):
    """The input of scores: the predictions of the points of one split, or of a part of it."""

    draws: np.ndarray
    """Function draws on the model scale, axes (sample, point)."""
    observed: np.ndarray
    """Observed targets on the model scale, axis (point)."""
    noise: PredictiveNoise
    """Predictive noise."""
    rng: np.random.Generator
    """Source of sampled numbers, which all modules share in alphabetical order. A new one draws
    from `rng.spawn(1)[0]`, so that the scores of the others do not change."""
    scale: str
    """`log10` or `identity`."""
    quick: bool = False
    """Whether intervals over resampled points are left out, and sampled numbers are fewer."""
    features: np.ndarray | None = None
    """Inputs of the network, axes (point, feature), of all test rows; None for other rows."""


class ClassPrediction(NamedTuple):
    """Predictions of all draws together at each point."""

    probability: np.ndarray
    """Predictive probabilities, the means over draws, axes (point, class)."""
    expected_entropy: np.ndarray
    """Mean over draws of the entropy of one draw's probabilities, axis (point)."""

    @property
    def predicted(self) -> np.ndarray:
        """Index of the most probable class, axis (point)."""
        return self.probability.argmax(axis=1)

    @property
    def confidence(self) -> np.ndarray:
        """Predictive probability of the most probable class, axis (point)."""
        return self.probability.max(axis=1)


class ClassSplit(NamedTuple):
    """The input of scores of classes: the predictions of all draws together for one split.

    `labels` (point,) are the indices of the true classes.
    """

    prediction: ClassPrediction
    labels: np.ndarray
