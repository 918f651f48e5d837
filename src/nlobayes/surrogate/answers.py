"""Answers in columns: what the command line and the service say of every point."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from nlobayes.data.transforms import FEATURE_MAPS
from nlobayes.errors import InputError
from nlobayes.surrogate.surrogate import Scale, Surrogate

SUMMARIES = ("mean", "median", "posterior_sd", "total_sd")
DOMAIN = "domain"
REASON = "reason"


def quantile_names(probabilities: Sequence[float]) -> list[str]:
    """Name quantiles by their percentages: q16, q97.5.

    Raises
    ------
    InputError
        If a probability is not between 0 and 1, or comes twice.
    """
    names = [f"q{100 * probability:.9g}" for probability in probabilities]
    for name, probability in zip(names, probabilities, strict=True):
        if not 0 < probability < 1:
            raise InputError("surrogate.no_probability", percent=100 * probability)
        if names.count(name) > 1:
            raise InputError("surrogate.quantile_twice", probability=probability)
    return names


def answer(
    surrogate: Surrogate,
    points: np.ndarray,
    quantiles: Sequence[float] = (),
    *,
    on: Scale = "target",
    given: Mapping[str, np.ndarray] | None = None,
) -> dict[str, np.ndarray]:
    """Predict points (point, input) and say where they lie; each column has axis (point,).

    `given` holds parameters that were held fixed, as `Surrogate.domain` takes them. Far outside
    the domain a number may not exist: it is NaN or infinite there.

    Raises
    ------
    InputError
        As `Surrogate.predict`.
    """
    names = quantile_names(quantiles)
    with np.errstate(all="ignore"):
        found = surrogate.predict(points, quantiles=quantiles, on=on)
        domain = surrogate.domain(points, given)
    summaries = {name: getattr(found, name) for name in SUMMARIES}
    return summaries | dict(zip(names, found.quantiles, strict=True)) | {DOMAIN: domain}


def allowed(surrogate: Surrogate, points: np.ndarray) -> tuple[np.ndarray, str]:
    """Tell which points have finite features and a reference, and say which those are."""
    chosen = FEATURE_MAPS[surrogate.facts["transforms"]["features"]["map"]]
    with np.errstate(all="ignore"):
        features = chosen.apply(surrogate.network_inputs(points))
    usable = np.all(np.isfinite(features), axis=1)
    reference = surrogate.reference(np.where(np.isfinite(points), points, 0.0))
    if reference is None:
        return usable, chosen.ALLOWED
    return usable & np.isfinite(reference), f"{chosen.ALLOWED}; {surrogate.needs}"
