"""Ordinary least squares: a baseline for networks, and its coefficients."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class LeastSquares(NamedTuple):
    """Coefficients of [1, features], their standard errors (coefficient,), the residual sd.

    Errors and sd are NaN where there are no more rows than coefficients.
    """

    coefficients: np.ndarray
    standard_errors: np.ndarray
    residual_sd: float


def fit(features: np.ndarray, target: np.ndarray) -> LeastSquares:
    """Fit the target (point,) by an intercept and the features (point, feature).

    Of collinear features the solution of least norm is taken.
    """
    design = _design(features)
    coefficients = np.linalg.lstsq(design, target)[0]
    free = len(target) - design.shape[1]
    if free < 1:
        return LeastSquares(coefficients, np.full(len(coefficients), np.nan), np.nan)
    residual_sd = float(np.sqrt(np.square(target - design @ coefficients).sum() / free))
    variances = np.diag(np.linalg.pinv(design.T @ design))
    return LeastSquares(coefficients, residual_sd * np.sqrt(variances), residual_sd)


def predict(fitted: LeastSquares, features: np.ndarray) -> np.ndarray:
    """Predict the target (point,) at features (point, feature)."""
    return _design(features) @ fitted.coefficients


def _design(features: np.ndarray) -> np.ndarray:
    return np.column_stack([np.ones(len(features)), np.asarray(features, np.float64)])
