"""The rivals: regressors for comparison with our Bayesian networks, by name, one module each.

Each is fitted to train rows only and predicts in units of the network.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Protocol

import numpy as np

from nlobayes.families import Family


class RivalOutput(NamedTuple):
    """The predictions of a rival, in units of the network.

    Attributes
    ----------
    draws
        Predictions (draw, point): members of an ensemble, quantiles of a Gaussian process, or one
        row for a single best prediction.
    sd
        Standard deviation of a new observation as the rival states it (point,); None if it states
        none.
    """

    draws: np.ndarray
    sd: np.ndarray | None = None


class Fitted(NamedTuple):
    """A fitted rival: a function from features (point, feature) to predictions, and facts.

    Among the facts `rows` counts the train rows that were used.
    """

    predict: Callable[[np.ndarray], RivalOutput]
    facts: Mapping[str, Any]


class Rival(Protocol):
    """A regressor."""

    def fit(
        self, features: np.ndarray, target: np.ndarray, *, seed: int, **settings: Any
    ) -> Fitted:
        """Fit the target (point,) at features (point, feature) of the train rows."""
        ...


RIVALS: Family[Rival] = Family(__name__, __file__)
