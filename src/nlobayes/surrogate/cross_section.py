"""The cross section of one spectrum, in pb, with its error and whether to trust it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from nlobayes.data.units import convert
from nlobayes.errors import InputError
from nlobayes.surrogate.answers import allowed
from nlobayes.surrogate.domain import OUTSIDE
from nlobayes.surrogate.identity import Process
from nlobayes.surrogate.surrogate import Surrogate

ERRORS_OF_THEORY = ("scale_up", "scale_down", "pdf_error_pb", "alpha_s_up", "alpha_s_down")
"""Columns of cross sections that are no central values."""
QUANTILES = (0.16, 0.84)
NOT_POSITIVE = "what is predicted is no finite cross section above 0"


class CrossSection(NamedTuple):
    """A cross section in pb: median and 68 % interval of the predictive, where it lies, and why.

    `reason` says which parameter that was held fixed has another value, or is not told.
    """

    median: float
    low: float
    high: float
    domain: str
    reason: str


def central(surrogate: Surrogate) -> Process:
    """Give the process of a surrogate whose target is its central cross section.

    Raises
    ------
    InputError
        If the table did not state the process, the target has no unit of a cross section, or it is
        one of `ERRORS_OF_THEORY`.
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
    """Predict the point of a spectrum by the names of columns, as `data.slha` reads it.

    Raises
    ------
    InputError
        If the spectrum lacks an input, or no such point can be predicted.
    """
    missing = [name for name in surrogate.inputs if name not in spectrum]
    if missing:
        raise InputError("surrogate.not_in_spectrum", missing=missing)
    point = np.array([[spectrum[name] for name in surrogate.inputs]])
    usable, takes = allowed(surrogate, point)
    if not usable.all():
        raise InputError("surrogate.not_allowed", allowed=takes)
    names = (one.name for one in surrogate.conditions)
    given = {name: spectrum[name] for name in names if name in spectrum}
    values = _quantiles(surrogate, point)
    domain = str(surrogate.domain(point, given)[0])
    unit = surrogate.units[surrogate.target]
    reason = str(surrogate.reasons(given, 1)[0])
    median, low, high = map(float, convert(values, unit, "pb"))
    if not (np.isfinite(values).all() and median > 0):
        return CrossSection(np.nan, np.nan, np.nan, OUTSIDE, reason or NOT_POSITIVE)
    return CrossSection(median, low, high, domain, reason)


def _quantiles(surrogate: Surrogate, point: np.ndarray) -> np.ndarray:
    """Give the median and `QUANTILES` of the target, without the moments that cost most."""
    with np.errstate(all="ignore"):
        found = surrogate.predict(point, quantiles=QUANTILES, on="model")
        values = np.array([found.median[0], *found.quantiles[:, 0]])
        return 10.0**values if surrogate.scale == "log10" else values
