"""Families of predictive noise by name, one module each, with their fit and their law."""

from typing import Any, Protocol

from nlobayes.families import Family


class NoiseFamily(Protocol):
    """Required contents of the module of a family."""

    ABOUT_MEAN: bool
    """Whether the noise lies about the mean of the draws; otherwise about every draw."""

    def fit(self, points: Any) -> Any:
        """Fit the noise to held-out `fitted.Points`; return a `fitted.FittedNoise`."""
        ...

    def law(self, fitted: Any, scale: Any, bins: Any) -> Any:
        """Return the `Law` with a scale: a number, or (point,) for points in these bins."""
        ...


NOISES: Family[NoiseFamily] = Family(__name__, __file__)
