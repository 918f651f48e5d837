"""Feature and target transforms: from physical columns to the inputs of the network, and back.

The constants of the standardisation come from the train rows alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from nlobayes.data.features import first_rows, map_features, principal_components
from nlobayes.errors import InputError
from nlobayes.types import Dataset
from nlobayes.untyped import Document, Facts


class FeatureTransform(NamedTuple):
    """Features (map(inputs) - mean) / scale, with one mean and scale per feature.

    With `components` (component, feature) they are components (map(inputs) - mean) / scale, with
    one scale per component; `explained` (component,) is the share of the variance of each.
    """

    map: str
    mean: np.ndarray
    scale: np.ndarray
    components: np.ndarray | None = None
    explained: np.ndarray | None = None


class TargetTransform(NamedTuple):
    """Standardised target (scale(target) - mean) / sd, with scale `log10` or `identity`.

    Each of several targets has its own mean and sd. Scale `classes` numbers the `labels`. With
    `relative_to`, the settings of a reference (`references`), the standardised quantity is
    scale(target) - scale(reference): the reference of each point is an offset of the network. The
    first of several targets has this reference; the others are ratios to the first, with reference
    1.
    """

    scale: str
    mean: float | Sequence[float]
    sd: float | Sequence[float]
    labels: Sequence[float] = ()
    relative_to: Facts | None = None


CLASSES = "classes"
TARGET_SCALES: dict[str, Callable[..., np.ndarray]] = {"log10": np.log10, "identity": np.asarray}


def fit_features(
    name: str,
    inputs: np.ndarray,
    train: np.ndarray,
    *,
    standardise: bool,
    components: int | None = None,
) -> FeatureTransform:
    """Compute the constants of a feature transform from the train rows.

    Parameters
    ----------
    name
        Name in `FEATURE_MAPS`.
    inputs
        All rows, shape (row, column); features of every row must be finite.
    train
        Which rows are used for the constants, boolean of shape (row,).
    standardise
        Centre and scale each feature; otherwise the constants are 0 and 1.
    components
        Number of principal components that replace the features; these are always centred.

    A feature that is constant on the train rows keeps scale 1: the network sees 0 in all of them.

    Raises
    ------
    InputError
        As `map_features`; if all features are constant on the train rows; or as
        `principal_components`.
    """
    features = map_features(name, inputs)[train]
    if components is not None:
        found = principal_components(features, components)
        scale = found.sd if standardise else np.ones(components)
        return FeatureTransform(name, found.mean, scale, found.directions, found.explained)
    if not standardise:
        return FeatureTransform(name, np.zeros(features.shape[1]), np.ones(features.shape[1]))
    constant = np.array([*map(is_constant, features.T)])
    if constant.all():
        raise InputError("data.no_feature_varies")
    mean, sd = features.mean(axis=0), features.std(axis=0)
    return FeatureTransform(
        name, np.where(constant, features[0], mean), np.where(constant, 1.0, sd)
    )


def apply_features(transform: FeatureTransform, inputs: np.ndarray) -> np.ndarray:
    """Map inputs (row, column) to the features (row, feature) that the network sees."""
    standardised: np.ndarray = standardise_features(transform, map_features(transform.map, inputs))
    return standardised


def standardise_features(transform: FeatureTransform, mapped: Any) -> Any:
    """Standardise mapped features (row, feature) of NumPy or JAX for the network."""
    centred = mapped - transform.mean
    if transform.components is None:
        return centred / transform.scale
    # No matrix product: its rounding of a row depends on the other rows and on the threads.
    einsum = centred.__array_namespace__().einsum
    return einsum("rf,cf->rc", centred, transform.components) / transform.scale


def constants_of(transform: FeatureTransform) -> Document:
    """Return the constants of a feature transform by name, as files store them."""
    present = {name: value for name, value in transform._asdict().items() if value is not None}
    return {name: value if name == "map" else value.tolist() for name, value in present.items()}


def feature_transform(constants: Facts) -> FeatureTransform:
    """Make a feature transform from its constants, as files store them."""
    arrays = {name: np.array(value) for name, value in constants.items() if name != "map"}
    return FeatureTransform(constants["map"], **arrays)


def target_transform(transforms: Facts) -> TargetTransform:
    """Make the target transform from the transforms of a dataset or a surrogate."""
    return TargetTransform(**transforms["target"])


def fit_target(
    scale: str,
    target: np.ndarray,
    train: np.ndarray,
    *,
    standardise: bool,
    relative_to: Facts | None = None,
    reference: np.ndarray | None = None,
) -> TargetTransform:
    """Compute the constants of a target transform from the train rows.

    Raises InputError if the scale is not known, a target is not finite on it, or all train targets
    are equal; or if there are fewer than two classes, or one does not occur in the train rows.

    Parameters
    ----------
    scale
        `log10` or `identity`.
    target
        All rows, shape (row,) or (row, output).
    train
        Which rows are used for the constants, boolean of shape (row,).
    standardise
        Centre and scale the target; otherwise the constants are 0 and 1.
    relative_to, reference
        Settings of the reference, and its value in every row (row,).
    """
    if scale == CLASSES:
        return TargetTransform(scale, 0.0, 1.0, _labels(target, train))
    bare = TargetTransform(scale, 0.0, 1.0, (), relative_to)
    scaled = apply_target(bare, target, reference)[train]
    if not standardise:
        return bare
    for column in np.atleast_2d(scaled.T):
        if is_constant(column):
            raise InputError("data.constant_target", scale=scale, value=column[0])
    return bare._replace(mean=scaled.mean(axis=0).tolist(), sd=scaled.std(axis=0).tolist())


def _labels(target: np.ndarray, train: np.ndarray) -> tuple[float, ...]:
    labels, seen = np.unique(target), np.unique(target[train])
    if len(labels) < 2 or not np.array_equal(labels, np.round(labels)):
        raise InputError("data.labels_are_no_classes", labels=labels[:5].tolist())
    missing = np.setdiff1d(labels, seen)
    if missing.size:
        raise InputError("data.classes_not_trained", labels=missing.tolist())
    return tuple(labels.tolist())


def apply_target(
    transform: TargetTransform, target: np.ndarray, reference: np.ndarray | None = None
) -> np.ndarray:
    """Map targets of any shape, relative to their references, to the network's scale.

    Class labels become class numbers.
    """
    if transform.scale == CLASSES:
        return np.searchsorted(transform.labels, target).astype(np.float64)
    scaled = _scale_target(transform.scale, target) - offset_of(transform, reference)
    return (scaled - np.asarray(transform.mean)) / np.asarray(transform.sd)


def along_targets(reference: np.ndarray | None, targets: np.ndarray) -> np.ndarray | None:
    """Broadcast references (row,) to targets (row,) or (row, output), with 1 after the first."""
    if reference is None or targets.ndim == 1:
        return reference
    whole = np.ones((len(reference), targets.shape[1]))
    whole[:, 0] = reference
    return whole


def reference_of(data: Dataset, rows: np.ndarray | slice = slice(None)) -> np.ndarray | None:
    """Select the references of rows, for values (..., row, output); None if there are none."""
    known = None if data.relative_to is None else data.relative_to[rows]
    return along_targets(known, data.observed.reshape(len(data.observed), -1))


def offset_of(transform: TargetTransform, reference: np.ndarray | None) -> np.ndarray:
    """Return the reference of points on the model scale, in its own shape; 0 if there is none.

    A reference that does not exist (NaN) has no offset either.
    """
    if (transform.relative_to is None) != (reference is None):
        raise ValueError("a reference is needed exactly where the target is relative to one")
    if reference is None:
        return np.zeros(())
    with np.errstate(divide="ignore", invalid="ignore"):
        return TARGET_SCALES[transform.scale](np.asarray(reference, np.float64))


def apply_scale(transform: TargetTransform, target: np.ndarray) -> np.ndarray:
    """Map targets of any shape to log10 of the target, or to the target itself."""
    return _scale_target(transform.scale, target)


def scale_uncertainty(
    scale: str, target: np.ndarray, variations: np.ndarray | None
) -> np.ndarray | None:
    """Compute how far the variations (row, variation) lie from the target (row,) on its scale.

    Returns the largest absolute difference in each row; None without variations.
    """
    if variations is None:
        return None
    central = _scale_target(scale, target)
    return np.max([np.abs(_scale_target(scale, other) - central) for other in variations.T], axis=0)


def numerical_error(
    scale: str, target: np.ndarray, relative: np.ndarray | None
) -> np.ndarray | None:
    """Convert relative errors (row,) of the target (row,) to standard deviations on its scale.

    To first order, this is relative / ln 10 on the scale log10. None if there are none.
    """
    if relative is None:
        return None
    return relative * (np.abs(target) if scale == "identity" else 1 / np.log(10))


def unstandardise(
    transform: TargetTransform, values: np.ndarray, reference: np.ndarray | None = None
) -> np.ndarray:
    """Map network outputs of any shape back to log10 of the target, or to the target itself.

    References are multiplied or added back only here. A target with a reference needs the reference
    of each point, in a shape that broadcasts over the outputs.
    """
    scaled = np.multiply(values, transform.sd, dtype=np.float64)
    scaled += transform.mean
    scaled += offset_of(transform, reference)
    return scaled


def _scale_target(scale: str, target: np.ndarray) -> np.ndarray:
    if scale not in TARGET_SCALES:
        raise InputError("data.unknown_scale", scale=scale, known=[*TARGET_SCALES, CLASSES])
    with np.errstate(divide="ignore", invalid="ignore"):
        scaled = TARGET_SCALES[scale](np.asarray(target, np.float64))
    finite = np.isfinite(scaled)
    whole = finite if finite.ndim < 2 else finite.all(axis=1)
    bad = np.flatnonzero(~whole)
    if bad.size:
        raise InputError(
            "data.target_not_finite",
            scale=scale,
            count=bad.size,
            total=whole.size,
            rows=first_rows(bad),
            allowed="positive" if scale == "log10" else "finite",
        )
    return scaled


def is_constant(values: np.ndarray) -> bool:
    """Return whether the train rows (row,) are constant; refuse if there are none."""
    if values.size == 0:
        raise InputError("data.no_train_rows")
    return bool(np.ptp(values) <= 1e-12 * np.abs(values).max())
