"""The rivals: regressors with nothing Bayesian of ours in them, by the names of their files.

Each is fitted to train rows alone, in units of the network, and predicts there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Protocol

import numpy as np

from nlobayes.families import Family


class Foretold(NamedTuple):
    """What a rival predicts, in units of the network.

    Attributes
    ----------
    draws
        Predictions (draw, point): members of an ensemble, quantiles of a Gaussian process, or one
        row where there is a best guess alone.
    sd
        Standard deviation of a new observation by the rival's own account (point,); None where it
        gives none.
    """

    draws: np.ndarray
    sd: np.ndarray | None = None


class Fitted(NamedTuple):
    """A rival after its fit: features (point, feature) to predictions, and plain facts of the fit.

    Among the facts `rows` counts the train rows that were used.
    """

    predict: Callable[[np.ndarray], Foretold]
    facts: Mapping[str, Any]


class Rival(Protocol):
    """A regressor."""

    def fit(
        self, features: np.ndarray, target: np.ndarray, *, seed: int, **settings: Any
    ) -> Fitted:
        """Fit the target (point,) at features (point, feature) of the train rows."""
        ...


RIVALS: Family[Rival] = Family(__name__, __file__)
