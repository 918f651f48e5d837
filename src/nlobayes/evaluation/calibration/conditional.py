"""Calibration along a covariate, and errors relative to the scale uncertainty of the physics.

A forecaster can be calibrated on average and still have too small uncertainties where data are few.
"""

import numpy as np
from scipy.spatial import cKDTree
from scipy.special import ndtri

from nlobayes.errors import InputError
from nlobayes.evaluation.calibration.calibration import (
    CENTRAL_LEVELS,
    CONFIDENCE,
    share_within,
    spread_error,
    wilson_interval,
)

DECILES = 10
FEWEST_PER_BIN = 20
SMALL_SHARE = 0.3
"""An error below this share of the scale uncertainty adds, in quadrature, less than 5 % to it."""

_LEVELS = {name: CENTRAL_LEVELS[name] for name in ("coverage_68", "coverage_95")}


def conditional_table(
    by: dict[str, np.ndarray], z_total: np.ndarray, pit: np.ndarray, *, bins: int = DECILES
) -> dict[str, np.ndarray]:
    """Tabulate calibration in bins of equally many points, for a figure.

    Raises InputError if a quantity is not finite or not one value per point.

    Parameters
    ----------
    by
        Quantities to bin by, axis (point), under the names that the table gives them.
    z_total
        Standardised residuals, axis (point).
    pit
        Probability integral transform, axis (point).
    bins
        Number of bins; fewer if bins had fewer than 20 points each.

    Returns
    -------
    Columns, a row per quantity and bin: `by`, `bin`, `low`, `high`, `centre` (median) and `points`;
    `sigma_z`, the standard deviation of the residuals, with `_lower` and `_upper` 1.96 standard
    errors away (NaN in a bin of one point); `coverage_68` and `coverage_95` of the central
    intervals, with their 95 % Wilson intervals `_lower` and `_upper`.
    """
    rows = [
        {"by": name, "bin": index, **_edges(values[points]), **_row(z_total[points], pit[points])}
        for name, values in by.items()
        for index, points in enumerate(equal_count_bins(_checked(name, values, pit), bins))
    ]
    return {name: np.array([row[name] for row in rows]) for name in rows[0]}


def equal_count_bins(values: np.ndarray, bins: int) -> list[np.ndarray]:
    """Return the points of each bin in ascending order of values; counts differ by at most one.

    There are at least 20 points in each of several bins, and equal values make one bin.
    """
    several = 1 if np.ptp(values) == 0 else min(bins, len(values) // FEWEST_PER_BIN)
    return np.array_split(np.argsort(values, kind="stable"), max(several, 1))


def coverage_by_decile(pit: np.ndarray, covariate: np.ndarray) -> dict[str, list[float]]:
    """Return the coverage of central intervals in `equal_count_bins` of the covariate (point,).

    Returns `coverage_68_deciles` and `coverage_95_deciles`, in ascending order of the covariate.
    """
    bins = equal_count_bins(covariate, DECILES)
    return {
        f"{name}_deciles": [share_within(2 * pit[points] - 1, level) for points in bins]
        for name, level in _LEVELS.items()
    }


def distance_to_training(features: np.ndarray, train_features: np.ndarray) -> np.ndarray:
    """Return the distance to the nearest train row in units of that between train rows.

    Raises InputError if the arrays are not of the same features or a value is not finite.

    Parameters
    ----------
    features
        Inputs of the network, axes (point, feature).
    train_features
        The same of the training rows, axes (row, feature).

    Returns
    -------
    Axis (point): Euclidean distance to the nearest train row, zero for a train row, over the median
    distance of train rows to their nearest other. Where duplicates make that median zero, the mean
    takes its place, and 1 where that is zero as well or there is one row.
    """
    shapes = features.shape, train_features.shape
    if features.ndim != 2 or train_features.ndim != 2 or shapes[0][1:] != shapes[1][1:]:
        raise InputError("evaluation.distance_shapes", features=shapes[0], train_features=shapes[1])
    if not (np.isfinite(features).all() and np.isfinite(train_features).all()):
        raise InputError("evaluation.distance_not_finite")
    tree = cKDTree(train_features)
    nearest, _ = tree.query(features)
    return nearest / _unit(tree)


def error_over_scale(
    mean: np.ndarray, observed: np.ndarray, scale_uncertainty: np.ndarray | None
) -> np.ndarray:
    """Return |mean - observed| / scale uncertainty per point, NaN where the latter is unknown.

    All are on the model scale, axis (point); an uncertainty that is NaN or not positive is unknown,
    and so are all of them where the argument is None.
    """
    return _over_scale(np.abs(mean - observed), scale_uncertainty)


def scale_shares(
    mean: np.ndarray,
    total_sd: np.ndarray,
    observed: np.ndarray,
    scale_uncertainty: np.ndarray | None,
) -> dict[str, float]:
    """Compare the surrogate's errors with the scale uncertainty of the physics.

    All are on the model scale, axis (point).

    Returns
    -------
    Over the points whose scale uncertainty is known: `error_over_scale_p50`, the median of |mean -
    observed| over it; `error_over_scale_share_below_0_3` and `sd_over_scale_share_below_0_3`, the
    shares of points where the error and the predicted sd are below 0.3 of it. Empty if it is known
    nowhere.
    """
    errors = error_over_scale(mean, observed, scale_uncertainty)
    known = np.isfinite(errors)
    if not known.any():
        return {}
    spreads = _over_scale(total_sd, scale_uncertainty)
    return {
        "error_over_scale_p50": float(np.median(errors[known])),
        "error_over_scale_share_below_0_3": float(np.mean(errors[known] < SMALL_SHARE)),
        "sd_over_scale_share_below_0_3": float(np.mean(spreads[known] < SMALL_SHARE)),
    }


def _over_scale(values: np.ndarray, scale_uncertainty: np.ndarray | None) -> np.ndarray:
    unknown = np.full(values.shape, np.nan)
    if scale_uncertainty is None:
        return unknown
    return np.divide(values, scale_uncertainty, out=unknown, where=scale_uncertainty > 0)


def _unit(tree: cKDTree) -> float:
    """Median nearest-neighbour distance of the rows, or its substitute."""
    if tree.n == 1:
        return 1.0
    between = tree.query(tree.data, k=2)[0][:, 1]
    return float(np.median(between) or between.mean() or 1.0)


def _edges(values: np.ndarray) -> dict[str, float]:
    return {
        "low": values.min(),
        "high": values.max(),
        "centre": np.median(values),
        "points": len(values),
    }


def _row(z: np.ndarray, pit: np.ndarray) -> dict[str, float]:
    spread = z.std() if len(z) > 1 else np.nan
    half = -ndtri((1 - CONFIDENCE) / 2) * spread_error(z)
    row = {"sigma_z": spread, "sigma_z_lower": spread - half, "sigma_z_upper": spread + half}
    for name, level in _LEVELS.items():
        share = share_within(2 * pit - 1, level)
        lower, upper = wilson_interval(np.array(share), len(pit))
        row |= {name: share, f"{name}_lower": float(lower), f"{name}_upper": float(upper)}
    return row


def _checked(name: str, values: np.ndarray, pit: np.ndarray) -> np.ndarray:
    if values.shape == pit.shape and np.isfinite(values).all():
        return values
    raise InputError(
        "evaluation.calibration_by",
        quantity=name,
        points=len(pit),
        shape=values.shape,
        not_finite=int(np.sum(~np.isfinite(values))),
    )
