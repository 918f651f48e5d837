"""Feature and target maps: from physical columns to what the network sees, and back.

Constants of the standardisation come from the train rows alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from nlobayes.errors import InputError

THRESHOLD_GEV = 45.5
"""Just below half the Z mass, where pair production through the Z opens."""

Z_SCALE, INTERFERENCE_SCALE = 0.005, 0.02
"""Where N13^2-N14^2 and N11 N12 pass from linear to logarithmic."""

INVARIANT_NAMES = ("N11^2", "N12^2", "N13^2-N14^2", "N11*N12")


class FeatureMap(NamedTuple):
    """A map from inputs (row, column) to features (row, feature)."""

    apply: Callable[[np.ndarray], np.ndarray]
    columns: tuple[str, ...] | None
    """Columns expected, in order; None for any."""
    features: tuple[str, ...] | None
    """Names of the features; None for those of the columns."""
    allowed: str
    """Inputs at which the features are finite."""


class FeatureTransform(NamedTuple):
    """Features (map(inputs) - mean) / scale, with one mean and scale per feature."""

    map: str
    mean: np.ndarray
    scale: np.ndarray


class TargetTransform(NamedTuple):
    """Standardised target (scale(target) - mean) / sd, with scale `log10` or `identity`."""

    scale: str
    mean: float
    sd: float


def _mixing_invariants(mixing: np.ndarray) -> list[np.ndarray]:
    n11, n12, n13, n14 = mixing.T
    return [n11**2, n12**2, n13**2 - n14**2, n11 * n12]


def _invariants(inputs: np.ndarray) -> np.ndarray:
    return np.column_stack([np.log(np.abs(inputs[:, 0])), *_mixing_invariants(inputs[:, 1:])])


def _threshold_invariants(inputs: np.ndarray) -> np.ndarray:
    above = np.abs(inputs[:, 0]) - THRESHOLD_GEV
    return np.column_stack([np.log(above), *_mixing_invariants(inputs[:, 1:])])


def _resolved_invariants(inputs: np.ndarray) -> np.ndarray:
    """Stretch the invariants where the cross section turns: coupling to the Z, and interference."""
    above = np.log(np.abs(inputs[:, 0]) - THRESHOLD_GEV)
    bino, wino, z_coupling, interference = _mixing_invariants(inputs[:, 1:])
    stretched = (np.arcsinh(z_coupling / Z_SCALE), np.arcsinh(interference / INTERFERENCE_SCALE))
    return np.column_stack([above, bino, wino, *stretched])


def _raw(inputs: np.ndarray) -> np.ndarray:
    return inputs


NEUTRALINO = ("m", "N11", "N12", "N13", "N14")

FEATURE_MAPS = {
    "invariants": FeatureMap(
        _invariants, NEUTRALINO, ("ln|m|", *INVARIANT_NAMES), "finite inputs, |m| above 0"
    ),
    "threshold_invariants": FeatureMap(
        _threshold_invariants,
        NEUTRALINO,
        (f"ln(|m|-{THRESHOLD_GEV})", *INVARIANT_NAMES),
        f"finite inputs, |m| above {THRESHOLD_GEV} GeV",
    ),
    "resolved_invariants": FeatureMap(
        _resolved_invariants,
        NEUTRALINO,
        (
            f"ln(|m|-{THRESHOLD_GEV})",
            "N11^2",
            "N12^2",
            "asinh((N13^2-N14^2)/0.005)",
            "asinh(N11*N12/0.02)",
        ),
        f"finite inputs, |m| above {THRESHOLD_GEV} GeV",
    ),
    "raw": FeatureMap(_raw, None, None, "finite inputs"),
}

TARGET_SCALES: dict[str, tuple[Callable[..., np.ndarray], Callable[..., np.ndarray]]] = {
    "log10": (np.log10, lambda exponents: 10.0 ** np.asarray(exponents)),
    "identity": (np.asarray, np.asarray),
}


def feature_names(name: str, columns: Sequence[str]) -> tuple[str, ...]:
    """Name the features that a map makes of the columns."""
    return _feature_map(name).features or tuple(columns)


def map_features(name: str, inputs: np.ndarray) -> np.ndarray:
    """Apply a feature map, without standardisation.

    The invariants are unchanged when the mass or the whole row of mixings changes sign.

    Parameters
    ----------
    name
        Name in `FEATURE_MAPS`.
    inputs
        Shape (row, column). Invariants take m (GeV, signed), N11, N12, N13, N14 in this order.

    Returns
    -------
    Features of shape (row, feature).

    Raises
    ------
    InputError
        If the map is not known, the columns are too few or many, or a feature is not finite.
    """
    chosen = _feature_map(name)
    inputs = np.asarray(inputs, np.float64)
    expected = len(chosen.columns) if chosen.columns else inputs.shape[-1]
    if inputs.ndim != 2 or inputs.shape[1] != expected:
        raise InputError(
            f"feature map {name!r} got inputs of shape {inputs.shape}; it takes rows of "
            f"{', '.join(chosen.columns or ('all columns',))}; choose another map or columns"
        )
    with np.errstate(all="ignore"):
        features = chosen.apply(inputs)
    _check_rows(
        np.isfinite(features).all(axis=1), f"feature map {name!r} is not finite", chosen.allowed
    )
    return features


def fit_features(
    name: str, inputs: np.ndarray, train: np.ndarray, *, standardise: bool
) -> FeatureTransform:
    """Fix the constants of a feature transform on the train rows.

    Parameters
    ----------
    name
        Name in `FEATURE_MAPS`.
    inputs
        All rows, shape (row, column): every one must be mapped to finite features.
    train
        Which rows are used for the constants, boolean of shape (row,).
    standardise
        Centre and scale each feature; otherwise the constants are 0 and 1.

    Raises
    ------
    InputError
        As `map_features`; and if a feature to be standardised is constant on the train rows.
    """
    features = map_features(name, inputs)[train]
    if not standardise:
        return FeatureTransform(name, np.zeros(features.shape[1]), np.ones(features.shape[1]))
    for position, values in enumerate(features.T):
        names = FEATURE_MAPS[name].features
        what = f"feature {names[position] if names else position + 1} of map {name!r}"
        _check_varies(values, what)
    return FeatureTransform(name, features.mean(axis=0), features.std(axis=0))


def apply_features(transform: FeatureTransform, inputs: np.ndarray) -> np.ndarray:
    """Map inputs (row, column) to the features (row, feature) that the network sees."""
    return (map_features(transform.map, inputs) - transform.mean) / transform.scale


def fit_target(
    scale: str, target: np.ndarray, train: np.ndarray, *, standardise: bool
) -> TargetTransform:
    """Fix the constants of a target transform on the train rows.

    Parameters
    ----------
    scale
        `log10` or `identity`.
    target
        All rows, shape (row,).
    train
        Which rows are used for the constants, boolean of shape (row,).
    standardise
        Centre and scale the target; otherwise the constants are 0 and 1.

    Raises
    ------
    InputError
        If the scale is not known, a target is not finite on it, or all train targets are equal.
    """
    scaled = _scale_target(scale, target)[train]
    if not standardise:
        return TargetTransform(scale, 0.0, 1.0)
    _check_varies(scaled, f"the target on the {scale} scale")
    return TargetTransform(scale, float(scaled.mean()), float(scaled.std()))


def apply_target(transform: TargetTransform, target: np.ndarray) -> np.ndarray:
    """Map targets of any shape to the network's scale."""
    return (_scale_target(transform.scale, target) - transform.mean) / transform.sd


def apply_scale(transform: TargetTransform, target: np.ndarray) -> np.ndarray:
    """Map targets of any shape to log10 of the target, or to the target itself."""
    return _scale_target(transform.scale, target)


def scale_uncertainty(
    scale: str, target: np.ndarray, variations: np.ndarray | None
) -> np.ndarray | None:
    """Compute how far the variations (row, variation) lie from the target (row,) on its scale.

    The largest absolute difference in each row; None where there are no variations.
    """
    if variations is None:
        return None
    central = _scale_target(scale, target)
    return np.max([np.abs(_scale_target(scale, other) - central) for other in variations.T], axis=0)


def unstandardise(transform: TargetTransform, values: np.ndarray) -> np.ndarray:
    """Map network outputs of any shape back to log10 of the target, or to the target itself."""
    return np.asarray(values) * transform.sd + transform.mean


def invert_target(transform: TargetTransform, values: np.ndarray) -> np.ndarray:
    """Map network outputs of any shape back to targets, in the target's unit."""
    _, invert = TARGET_SCALES[transform.scale]
    return invert(unstandardise(transform, values))


def _feature_map(name: str) -> FeatureMap:
    if name not in FEATURE_MAPS:
        raise InputError(f"unknown feature map {name!r}; known: {', '.join(FEATURE_MAPS)}")
    return FEATURE_MAPS[name]


def _scale_target(scale: str, target: np.ndarray) -> np.ndarray:
    if scale not in TARGET_SCALES:
        raise InputError(f"unknown target scale {scale!r}; known: {', '.join(TARGET_SCALES)}")
    apply, _ = TARGET_SCALES[scale]
    with np.errstate(divide="ignore", invalid="ignore"):
        scaled = apply(np.asarray(target, np.float64))
    allowed = "positive targets" if scale == "log10" else "finite targets"
    _check_rows(np.isfinite(scaled), f"target scale {scale!r} is not finite", allowed)
    return scaled


def _check_rows(good: np.ndarray, what: str, allowed: str) -> None:
    bad = np.flatnonzero(~good) + 1
    if bad.size:
        rows = ", ".join(map(str, bad[:5])) + (", ..." if bad.size > 5 else "")
        raise InputError(
            f"{what} in {bad.size} of {good.size} rows ({rows}); allowed: {allowed}; "
            "remove these rows or choose another"
        )


def _check_varies(values: np.ndarray, what: str) -> None:
    if values.size == 0:
        raise InputError(f"{what} has no train rows; give at least two")
    if np.ptp(values) <= 1e-12 * np.abs(values).max():
        raise InputError(
            f"{what} is {values[0]:.6g} in every train row and cannot be standardised; "
            "leave it out or do not standardise"
        )
