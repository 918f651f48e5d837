"""The predictive noise as it is fitted and stored, and the points that it is fitted to."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from nlobayes.evaluation.predictive.scale_regression import Knots


class FittedNoise(NamedTuple):
    """The parameters of a family of predictive noise.

    Noise about every draw has one scale. That of noise about the mean of the draws follows the sd
    of the draws and the features (`distributions.scales`). A declared tolerance makes the spread of
    the draws show where errors are large, not how large they are; rows that were not trained on do.
    Recalibrated noise has `tails` in each bin of the feature `column` between `edges`.
    """

    family: str
    scale: float
    degrees_of_freedom: float | None
    exponent: float = 0.0
    reference_sd: float = 1.0
    knots: Knots = ()
    coefficients: tuple[tuple[float, ...], ...] = ()
    spread_range: tuple[float, ...] = ()
    scale_range: tuple[float, ...] = ()
    column: int = 0
    edges: tuple[float, ...] = ()
    tails: tuple[tuple[float, ...], ...] = ()


class Points(NamedTuple):
    """Points that were not trained on: draws (sample, point) and observed targets (point,).

    Both are finite, in float64, on the model scale. Inputs of the network (point, feature) and the
    covariate (point,) are None where they are not known.
    """

    draws: np.ndarray
    observed: np.ndarray
    features: np.ndarray | None
    covariate: np.ndarray | None
