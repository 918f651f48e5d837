"""The cross section of one spectrum in pb, with its errors and its domain."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from nlobayes.data.units import convert
from nlobayes.errors import InputError
from nlobayes.surrogate.domain import INSIDE, OUTSIDE
from nlobayes.surrogate.identity import Process
from nlobayes.surrogate.surrogate import Surrogate
from nlobayes.surrogate.theory import MEDIAN_AND_INTERVAL, relative_errors

ERRORS_OF_THEORY = ("scale_up", "scale_down", "pdf_error_pb", "alpha_s_up", "alpha_s_down")
"""Columns of tables of cross sections that are no central values."""
NOT_POSITIVE = "what is predicted is no finite cross section above 0"


class CrossSection(NamedTuple):
    """A cross section in pb: median and 68 % interval of the predictive, domain and errors.

    Numbers are NaN without a prediction, and 0 where the Born cross section vanishes. `reason`
    states why the point is outside, and which fixed parameters are not given. `errors` are relative
    and have the names of `theory.relative_errors`.
    """

    median: float
    low: float
    high: float
    domain: str
    reason: str
    errors: Mapping[str, float]


def central(surrogate: Surrogate) -> Process:
    """Return the process of a surrogate whose target is the central cross section.

    Raises
    ------
    InputError
        If the table did not state the process, or if the target has no unit of a cross section or
        is one of `ERRORS_OF_THEORY`.
    """
    if surrogate.process is None:
        raise InputError("surrogate.no_process", origin=surrogate.origin["process"])
    target, unit = surrogate.target, surrogate.units.get(surrogate.target, "")
    if target in ERRORS_OF_THEORY:
        raise InputError("surrogate.not_central", target=target)
    try:
        convert(np.ones(1), unit, "pb")
    except InputError:
        raise InputError("surrogate.no_cross_section", target=target, unit=unit) from None
    return surrogate.process


def cross_section(surrogate: Surrogate, spectrum: Mapping[str, float]) -> CrossSection:
    """Predict the cross section of a spectrum, given by column names as `data.slha` reads it.

    Raises
    ------
    InputError
        If the spectrum lacks an input.
    """
    point = point_of(surrogate, spectrum)
    given = {name: spectrum[name] for name in surrogate.condition_names if name in spectrum}
    with np.errstate(all="ignore"):
        quantiles = surrogate.quantiles(point, MEDIAN_AND_INTERVAL)
        relative = relative_errors(quantiles, surrogate.target, surrogate.theory)
        domain = str(surrogate.domain(point, given)[0])
    errors = {name: float(error[0]) for name, error in relative.items()}
    reason = str(surrogate.reasons(point, given)[0])
    if surrogate.vanishes(point)[0]:
        return CrossSection(0.0, 0.0, 0.0, INSIDE, reason, dict.fromkeys(errors, 0.0))
    values = quantiles[surrogate.target][:, 0]
    median, low, high = map(float, convert(values, surrogate.units[surrogate.target], "pb"))
    if not (np.isfinite(values).all() and median > 0):
        none = dict.fromkeys(errors, math.nan)
        return CrossSection(math.nan, math.nan, math.nan, OUTSIDE, reason or NOT_POSITIVE, none)
    return CrossSection(median, low, high, domain, reason, errors)


def point_of(surrogate: Surrogate, spectrum: Mapping[str, float]) -> np.ndarray:
    """Select the inputs of a surrogate from a spectrum, as one point (point, input).

    Raises
    ------
    InputError
        If the spectrum lacks an input.
    """
    missing = [name for name in surrogate.inputs if name not in spectrum]
    if missing:
        raise InputError("surrogate.not_in_spectrum", missing=missing)
    return np.array([[spectrum[name] for name in surrogate.inputs]])
