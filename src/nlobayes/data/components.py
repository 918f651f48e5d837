"""Principal components: the directions in which train rows vary most."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from nlobayes.errors import InputError


class Components(NamedTuple):
    """Directions of the largest variance.

    Attributes
    ----------
    mean
        Mean of each feature (feature,).
    directions
        Orthonormal directions, largest variance first (component, feature). The sign of each makes
        its entry of largest magnitude positive.
    sd
        Standard deviation of the rows along each (component,).
    explained
        Share of the variance of the rows along each (component,).
    """

    mean: np.ndarray
    directions: np.ndarray
    sd: np.ndarray
    explained: np.ndarray


def principal_components(rows: np.ndarray, count: int) -> Components:
    """Find the principal components of rows (row, feature), by a singular value decomposition.

    Raises
    ------
    InputError
        If the rows vary in fewer directions than components are requested.
    """
    mean = rows.mean(axis=0)
    _, singular, directions = np.linalg.svd(rows - mean, full_matrices=False)
    varied = singular > singular.max(initial=0.0) * max(rows.shape) * np.finfo(np.float64).eps
    if count > varied.sum():
        raise InputError(
            "data.more_components_than_directions",
            where="features.components",
            components=count,
            rows=len(rows),
            directions=int(varied.sum()),
        )
    largest = np.abs(directions).argmax(axis=1)
    signs = np.sign(directions[np.arange(len(directions)), largest])
    variance = singular**2
    return Components(
        mean=mean,
        directions=(signs[:, np.newaxis] * directions)[:count],
        sd=singular[:count] / np.sqrt(len(rows)),
        explained=(variance / variance.sum())[:count],
    )
