"""Families of predictive noise by name, one module each, with their fit and their law."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from nlobayes.families import Family

if TYPE_CHECKING:
    from nlobayes.distributions.distribution import Law
    from nlobayes.evaluation.predictive.fitted import FittedNoise, Points
    from nlobayes.untyped import Array


class NoiseFamily(Protocol):
    """Required contents of the module of a family."""

    ABOUT_MEAN: bool
    """Whether the noise lies about the mean of the draws; otherwise about every draw."""

    def fit(self, points: Points) -> FittedNoise:
        """Fit the noise to held-out points."""
        ...

    def law(self, fitted: FittedNoise, scale: Array, bins: Array) -> Law:
        """Return the law with a scale: a number, or (point,) for points in these bins."""
        ...


NOISES: Family[NoiseFamily] = Family(__name__, __file__)
