"""Families of predictive noise: how each is fitted, and what law it is; one file each, by name."""

from typing import Any, Protocol

from nlobayes.families import Family


class NoiseFamily(Protocol):
    """Content of the file of a family."""

    ABOUT_MEAN: bool
    """Whether the noise lies about the mean of the draws; otherwise about every draw."""

    BY_RANKS: bool
    """Whether its intervals are ranks among absolute residuals of the points it is fitted to."""

    def fit(self, points: Any) -> Any:
        """Fit it to `fitted.Points` that were not trained on; gives a `fitted.FittedNoise`."""
        ...

    def law(self, fitted: Any, scale: Any, bins: Any) -> Any:
        """Give the `Law` of a scale: a number, or (point,) where points lie in these bins."""
        ...


NOISES: Family[NoiseFamily] = Family(__name__, __file__)
