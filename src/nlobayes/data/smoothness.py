"""How well polynomials describe a target: whether it is smooth and nearly free of noise."""

from __future__ import annotations

from itertools import combinations_with_replacement
from math import comb

import numpy as np

HIGHEST_DEGREE = 3
ROWS_PER_TERM = 3
"""Fewest rows for each coefficient of a polynomial."""
MOST_ROWS = 2000
"""Most rows that are used, evenly spaced in the table."""


def unexplained(features: np.ndarray, target: np.ndarray) -> float:
    """Return the share of the sd of a target that polynomials of its features leave unexplained.

    Polynomials of degree 1 to `HIGHEST_DEGREE` are fitted by least squares. The share is the root
    mean square of their leave-one-out residuals over the sd of the target, of the best degree. The
    residual of a row that is left out is e / (1 - h), with residual e and leverage h of the fit to
    all rows (D. M. Allen, Technometrics 16 (1974) 125).

    Parameters
    ----------
    features
        Shape (row, feature). Constant features have no effect.
    target
        Shape (row,), on the scale on which it is learned.

    Returns
    -------
    Number near 1 or above it if polynomials are no better than the mean, or if the rows are too few
    for a straight line, or not finite.
    """
    features, target = features[_places(len(target))], target[_places(len(target))]
    if (
        not (np.isfinite(features).all() and np.isfinite(target).all())
        or (target == target[0]).all()
    ):
        return 1.0
    varying = features[:, (features != features[0]).any(axis=0)]
    varying = varying / np.abs(varying).max(axis=0)  # squares neither overflow nor vanish
    target = target / np.abs(target).max()
    standardised = (varying - varying.mean(axis=0)) / varying.std(axis=0)
    rows, inputs = standardised.shape
    degrees = [
        degree
        for degree in range(1, HIGHEST_DEGREE + 1)
        if comb(inputs + degree, degree) * ROWS_PER_TERM <= rows
    ]
    errors = [_left_out_error(_monomials(standardised, degree), target) for degree in degrees]
    return min(errors, default=target.std()) / float(target.std())


def _places(rows: int) -> np.ndarray:
    return np.unique(np.linspace(0, rows - 1, min(rows, MOST_ROWS)).astype(int))


def _monomials(x: np.ndarray, degree: int) -> np.ndarray:
    """Return all monomials of columns (row, column) up to a degree, with the constant first."""
    columns = [np.ones(len(x))]
    for order in range(1, degree + 1):
        chosen = combinations_with_replacement(range(x.shape[1]), order)
        columns += [np.prod(x[:, places], axis=1) for places in chosen]
    return np.column_stack(columns)


def _left_out_error(terms: np.ndarray, target: np.ndarray) -> float:
    """Return the root mean square of the leave-one-out residuals of a linear regression."""
    left, singular, _ = np.linalg.svd(terms, full_matrices=False)
    basis = left[:, singular > 1e-10 * singular[0]]
    residual = target - basis @ (basis.T @ target)
    kept = np.maximum(1 - np.square(basis).sum(axis=1), 1e-6)
    return float(np.sqrt(np.mean(np.square(residual / kept))))
