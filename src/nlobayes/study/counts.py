"""Priors of the number of units of a hidden layer, or of hidden layers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from nlobayes.settings.members import one_of_kinds
from nlobayes.settings.values import Fraction, Frozen, Positive, PositiveInt
from nlobayes.untyped import Document


class CountSettings(Frozen):
    """Prior of a number from `fewest` to the largest number that the network allows."""

    kind: str
    fewest: PositiveInt = 1
    """Least number that the prior allows; the most is that of the network."""

    def arguments(self) -> Document:
        """Return the settings by name."""
        return self.model_dump()


class UniformCount(CountSettings):
    """All numbers are equally probable."""

    kind: Literal["uniform"]


class PoissonCount(CountSettings):
    """A Poisson distribution, truncated to the range."""

    kind: Literal["poisson"]
    mean: Positive
    """Mean of the distribution before truncation."""


class GeometricCount(CountSettings):
    """Each number is less probable than the one before, by the same ratio."""

    kind: Literal["geometric"]
    ratio: Fraction
    """Probability of a number over that of the one before."""


COUNTS: tuple[type[CountSettings], ...] = (UniformCount, PoissonCount, GeometricCount)

if TYPE_CHECKING:
    Count = CountSettings
else:
    Count = one_of_kinds(COUNTS)
