"""`Classifier.load(path).predict(x)`: probabilities of classes from one file.

It needs NumPy and h5py, and JAX if that engine is chosen.
"""

from __future__ import annotations

from typing import ClassVar, NamedTuple

import numpy as np

from nlobayes.surrogate.in_numpy import Engine
from nlobayes.surrogate.point_arrays import among
from nlobayes.surrogate.trained import StoredNetwork
from nlobayes.types import SurrogateContent
from nlobayes.untyped import Points

_CELLS = 1_000_000
"""Probabilities (draw, point, class) that are held at once."""


class Classes(NamedTuple):
    """Prediction of classes, averaged over all draws.

    Attributes
    ----------
    probability
        Predictive probabilities, the means over draws (point, class), in the order of `labels`.
    label
        The most probable class (point,).
    confidence
        Probability of this class (point,).
    entropy
        Entropy of the predictive probabilities, in nats (point,).
    mutual_information
        The part of the entropy that more data would remove: the entropy minus the mean over
        draws of the entropy of one draw (point,).
    """

    probability: np.ndarray
    label: np.ndarray
    confidence: np.ndarray
    entropy: np.ndarray
    mutual_information: np.ndarray


class Classifier(StoredNetwork):
    """A sampled network that predicts classes.

    Attributes
    ----------
    labels
        Labels of the classes, whole numbers as in the table, in the order of the probabilities.
    """

    OF_CLASSES: ClassVar[bool] = True

    def __init__(self, exported: SurrogateContent, engine: Engine = "numpy") -> None:
        super().__init__(exported, engine)
        stated = self.facts["transforms"]["target"]["labels"]
        self.labels: tuple[int, ...] = tuple(int(label) for label in stated)

    def _predicts(self) -> str:
        return f"classes {', '.join(map(str, self.labels))} of {self.target}"

    def predict(self, x: Points) -> Classes:
        """Predict points (point, input), given as to `Surrogate.predict`.

        Check `domain` too: far from the train rows, networks give wrong classes high probabilities.
        All numbers are NaN, labels among them, for a point without a prediction.

        Raises
        ------
        InputError
            If a column is missing, or the points have another shape.
        """
        seen = self.seen(x)
        features = seen.features[seen.usable]
        step = max(1, _CELLS // (self.draws * len(self.labels)))
        starts = range(0, max(len(features), 1), step)
        parts = [self._of_points(features[start : start + step]) for start in starts]
        probability = np.concatenate([mean for mean, _ in parts])
        expected = np.concatenate([entropy for _, entropy in parts])
        entropy = _entropy(probability)
        found = (
            probability,
            np.array(self.labels)[probability.argmax(axis=1)],
            probability.max(axis=1),
            entropy,
            np.maximum(entropy - expected, 0),
        )
        return Classes(*(among(values, seen.usable, axis=0) for values in found))

    def sample(self, x: Points) -> np.ndarray:
        """Return the probabilities of every draw (draw, point, class) at points (point, input)."""
        seen = self.seen(x)
        drawn = _softmax(self._evaluate(seen.features[seen.usable]))
        return among(drawn, seen.usable, axis=1)

    def _of_points(self, features: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Average the probabilities of the draws, and their entropies."""
        each = _softmax(self._evaluate(features))
        return each.mean(axis=0), _entropy(each).mean(axis=0)


def _softmax(logits: np.ndarray) -> np.ndarray:
    """Compute probabilities (..., class) from logits."""
    relative = np.exp(logits.astype(np.float64) - logits.max(axis=-1, keepdims=True))
    probabilities: np.ndarray = relative / relative.sum(axis=-1, keepdims=True)
    return probabilities


def _entropy(probabilities: np.ndarray) -> np.ndarray:
    """Compute the entropy (...,) of probabilities (..., class), in nats."""
    logs = np.log(np.where(probabilities > 0, probabilities, 1))
    entropy: np.ndarray = -(probabilities * logs).sum(axis=-1)
    return entropy
