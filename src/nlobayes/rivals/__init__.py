"""The rivals: regressors of other libraries for comparison with our networks, a file each.

Each is fitted to train rows only and predicts in units of the network. Their libraries are imported
when they are fitted.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from importlib.util import find_spec
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from nlobayes.settings.members import one_of_kinds, settings_of
from nlobayes.settings.values import Choice, Seed
from nlobayes.untyped import Facts

if TYPE_CHECKING:
    import numpy as np

SCIKIT_LEARN = "sklearn"
"""Package that the extra `rivals` installs."""


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


class FittedRival(NamedTuple):
    """A fitted rival: a function from features (point, feature) to predictions, and facts.

    Among the facts `rows` counts the train rows that were used.
    """

    predict: Callable[[np.ndarray], RivalOutput]
    facts: Facts


class RivalSettings(Choice):
    """Settings of a rival; each kind has a file of its name."""

    library: ClassVar[str | None] = None
    """Module that the rival needs besides those of required packages."""
    fewest_rows: ClassVar[int] = 1
    """Fewest train rows that it learns, with its defaults."""

    seed: Seed = 1
    """Seed of all random numbers of its fit."""

    @property
    def missing(self) -> str | None:
        """Name of the needed package if it is not installed; None if nothing is missing."""
        return self.library if self.library and find_spec(self.library) is None else None

    @abstractmethod
    def fit(self, features: np.ndarray, target: np.ndarray) -> FittedRival:
        """Fit the target (point,) at features (point, feature) of the train rows."""


RIVALS = settings_of(__name__, __file__, RivalSettings)

if TYPE_CHECKING:
    Rival = RivalSettings
else:
    Rival = one_of_kinds(RIVALS.values())
