"""The fitted and stored parameters of the predictive noise, and the points of its fit."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from nlobayes.evaluation.predictive.scale_regression import Knots


class FittedNoise(NamedTuple):
    """The parameters of a family of predictive noise.

    The log scale of noise about every draw has a `slope` along the mean of the draws, zero for one
    scale. That of noise about their mean is a function of the sd of the draws and the features
    (`distributions.scales`). With a declared tolerance the spread of the draws shows where errors
    are large; their size is fitted to rows that were not trained on. Recalibrated noise has `tails`
    in each bin of the feature `column` between `edges`.
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
    slope: float = 0.0
    reference_mean: float = 0.0


class Points(NamedTuple):
    """Points that were not trained on: draws (sample, point) and observed targets (point,).

    Both are finite, in float64, on the model scale. Inputs of the network (point, feature) and the
    covariate (point,) are None if they are not known.
    """

    draws: np.ndarray
    observed: np.ndarray
    features: np.ndarray | None
    covariate: np.ndarray | None
