"""What scores take, the predicted numbers or classes of a split, and custom scores."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from nlobayes.errors import InputError, one_line
from nlobayes.evaluation.predictive.predictive_density import PredictiveNoise


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


class OwnScores(NamedTuple):
    """Functions of the user by the names of their scores, and the split that they score."""

    functions: Mapping[str, Callable[[Any], Any]] = {}
    place: str = "these points"

    def of(self, split: Any) -> dict[str, float | str]:
        """Score a split, like the modules of the folders `regression` and `classification`.

        Each function that samples has its own random numbers.

        Raises InputError if a function raises, or gives neither a finite number nor a line of text.
        """
        return {name: self._score(name, each, split) for name, each in self.functions.items()}

    def _score(self, name: str, function: Callable[[Any], Any], split: Any) -> float | str:
        if hasattr(split, "rng"):
            split = split._replace(rng=split.rng.spawn(1)[0])
        try:
            return _checked(function(split))
        except InputError as error:
            raise error.within(f"score {name} of {self.place}") from error


NO_OWN = OwnScores()


def _checked(found: Any) -> float | str:
    if isinstance(found, str) and found.strip():
        return one_line(found, 200)
    is_number = isinstance(found, Real) or getattr(found, "shape", None) == ()
    if is_number and math.isfinite(float(found)):
        return float(found)
    shape = getattr(found, "shape", ())
    received = f"an array of shape {shape}" if shape else one_line(repr(found), 100)
    raise InputError("evaluation.own_score", received=received)
