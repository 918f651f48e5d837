"""Cross sections of one spectrum in pb with errors and domain, of one process or added.

Draws are added, and theory errors are treated as fully correlated. Chains of different processes
are independent, and draws are paired at random. Errors of two processes at one spectrum may still
be correlated, because both networks learned the same spectra. A bundle therefore widens the
interval by a factor from its validation rows (`bundles.shared_rows`).

All processes have the same scales, parton distributions and alpha_s. These errors are added
linearly, each with its sign. If all processes move to one side, the sum is the exact effect of a
common change of the scales, or of alpha_s. Otherwise, and always for parton distributions, it is an
upper bound: the error of PDF4LHC (arXiv:1510.03865, section 6.2) is a length over members, for
which the triangle inequality holds.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from nlobayes.data.units import convert
from nlobayes.errors import InputError
from nlobayes.surrogate.domain import INSIDE, NEAR_EDGE, OUTSIDE
from nlobayes.surrogate.identity import Process
from nlobayes.surrogate.surrogate import Surrogate
from nlobayes.surrogate.theory import (
    COMBINED,
    MEDIAN_AND_INTERVAL,
    REGRESSION,
    RULES,
    SIDES,
    TOTAL,
    Sides,
    relative_errors,
    with_total,
)

ERRORS_OF_THEORY = (
    *("scale_up", "scale_down", "mu_r_half", "mu_r_twice", "mu_f_half", "mu_f_twice"),
    *("pdf_error_pb", "alpha_s_up", "alpha_s_down"),
)
"""Columns of tables of cross sections that are no central values."""
NOT_POSITIVE = "what is predicted is no finite cross section above 0"
DRAWS = 20_000
"""Draws of a sum; with these the ends of its 68 % interval err by 1 % of the sd."""
OF_EVERY_PREDICTION = tuple(f"{of}_{side}" for of in (REGRESSION, TOTAL) for side in SIDES)
"""Names of the errors of a cross section without theory errors."""
FROM_BAD_TO_GOOD = (OUTSIDE, NEAR_EDGE, INSIDE)


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
    entry: str = ""


class Part(NamedTuple):
    """A surrogate, the spectrum by the names of its inputs and conditions, and its prediction.

    Without a surrogate the cross section is exact but for theory errors.
    """

    surrogate: Surrogate | None
    spectrum: Mapping[str, float]
    found: CrossSection


def central(surrogate: Surrogate) -> Process:
    """Return the process of a surrogate whose target is the central cross section.

    Raises InputError if the table did not state the process, or if the target has no unit of a
    cross section or is one of `ERRORS_OF_THEORY`.
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

    Raises InputError if the spectrum lacks an input.
    """
    point = point_of(surrogate, spectrum)
    given = {name: spectrum[name] for name in surrogate.condition_names if name in spectrum}
    with np.errstate(all="ignore"):
        quantiles = surrogate.for_errors(point)
        relative = relative_errors(quantiles, surrogate.target, surrogate.theory)
        (domain,), (reason,) = surrogate.standing(point, given)
    errors = {name: float(error[0]) for name, error in relative.items()}
    if _vanishes(surrogate, point):
        return CrossSection(0.0, 0.0, 0.0, INSIDE, str(reason), dict.fromkeys(errors, 0.0))
    values = quantiles[surrogate.target][:, 0]
    median, low, high = map(float, convert(values, surrogate.units[surrogate.target], "pb"))
    if not (np.isfinite(values).all() and median > 0):
        return nothing(str(reason) or NOT_POSITIVE, errors)
    return CrossSection(median, low, high, str(domain), str(reason), errors)


def nothing(reason: str, errors: Iterable[str] = OF_EVERY_PREDICTION) -> CrossSection:
    """Return what stands for a cross section without a prediction, with the names of its errors."""
    none = dict.fromkeys(errors, math.nan)
    return CrossSection(math.nan, math.nan, math.nan, OUTSIDE, reason, none)


def domain_of(surrogate: Surrogate, spectrum: Mapping[str, float]) -> str:
    """Return the domain of a spectrum by its inputs alone, whatever the fixed parameters are.

    A point whose Born cross section vanishes is inside, although it has no prediction.

    Raises InputError if the spectrum lacks an input.
    """
    point = point_of(surrogate, spectrum)
    with np.errstate(all="ignore"):
        return INSIDE if _vanishes(surrogate, point) else str(surrogate.domain(point)[0])


def _vanishes(surrogate: Surrogate, point: np.ndarray) -> bool:
    return bool(not surrogate.usable(point)[0] and surrogate.vanishes(point)[0])


def point_of(surrogate: Surrogate, spectrum: Mapping[str, float]) -> np.ndarray:
    """Select the inputs of a surrogate from a spectrum, as one point (point, input).

    Raises InputError if the spectrum lacks an input.
    """
    missing = [name for name in surrogate.inputs if name not in spectrum]
    if missing:
        raise InputError("surrogate.not_in_spectrum", missing=missing)
    return np.array([[spectrum[name] for name in surrogate.inputs]])


def total(parts: Mapping[str, Part], seed: int = 0, *, widening: float = 1.0) -> CrossSection:
    """Add cross sections, by the names of their processes, at one spectrum.

    Median and interval are those of the sum, not sums of medians and of ends. A process whose Born
    cross section vanishes adds 0; without a prediction of a part the sum is NaN. The distances from
    the median to the ends of the interval are multiplied by `widening`. The domain is the worst of
    the parts, and `reason` names each part with its reason. A theory error that one part lacks is
    missing in the sum, unless all have others. For one part the result is its prediction.
    """
    found = {name: part.found for name, part in parts.items()}
    if len(found) == 1:
        return next(iter(found.values()))
    domain = min((one.domain for one in found.values()), key=FROM_BAD_TO_GOOD.index)
    summed = [part for part in parts.values() if part.found.median != 0]
    if any(math.isnan(one.median) for one in found.values()):
        drawn = np.full(1, math.nan)
    elif not summed:
        return next(iter(found.values()))._replace(reason=reasons_of(found), entry="")
    else:
        exact = sum(part.found.median for part in summed if part.surrogate is None)
        drawn = exact + sum_of_draws(
            [(part.surrogate, part.spectrum) for part in summed if part.surrogate], seed
        )
    median, *ends = map(float, np.quantile(drawn, MEDIAN_AND_INTERVAL))
    low, high = (median + widening * (end - median) for end in ends)
    errors = _errors([*found.values()], (median, low, high))
    return CrossSection(median, low, high, domain, reasons_of(found), errors)


def sum_of_draws(
    parts: Sequence[tuple[Surrogate, Mapping[str, float]]], seed: int = 0
) -> np.ndarray:
    """Draw `DRAWS` values (draw,) of the sum of cross sections, in pb.

    Each part is a surrogate and the spectrum by the names of its inputs.
    """
    rngs = np.random.default_rng(seed).spawn(len(parts))
    drawn = [_draws(*part, rng) for part, rng in zip(parts, rngs, strict=True)]
    return np.sum([np.zeros(DRAWS), *drawn], axis=0)


def errors_at(
    surrogate: Surrogate, points: np.ndarray, observed: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Compare a surrogate with cross sections (point,) at points (point, input), in pb.

    Returns observed cross section minus the median, and half the width of the 68 % interval, each
    (point,).
    """
    unit = surrogate.units[surrogate.target]
    quantiles = surrogate.quantiles(points, MEDIAN_AND_INTERVAL)[surrogate.target]
    median, low, high = convert(quantiles, unit, "pb")
    return convert(observed, unit, "pb") - median, (high - low) / 2


def _draws(
    surrogate: Surrogate, spectrum: Mapping[str, float], rng: np.random.Generator
) -> np.ndarray:
    """Draw the predictive (draw,) in pb, in random order, equally often from each network."""
    points = np.repeat(point_of(surrogate, spectrum), math.ceil(DRAWS / surrogate.draws), axis=0)
    with np.errstate(all="ignore"):
        drawn = surrogate.sample(points, seed=int(rng.integers(2**63)), jointly=False)
    in_pb = convert(drawn, surrogate.units[surrogate.target], "pb")
    return rng.permutation(in_pb.ravel())[:DRAWS]


def _errors(
    parts: Sequence[CrossSection], quantiles: tuple[float, float, float]
) -> dict[str, float]:
    """Return the relative errors of a sum, by name.

    If every part has theory errors that not all have, these become one, `combined`: in quadrature
    within a part, and linearly over the parts.
    """
    median, low, high = quantiles
    sides = {REGRESSION: (np.array(low / median - 1), np.array(high / median - 1))}
    theory = [_theory(part) for part in parts]
    shared = {source for source in RULES if all(source in each for each in theory)}
    others = [{s: sides for s, sides in each.items() if s not in shared} for each in theory]
    if all(others):
        totals = [with_total(each) for each in others]
        unlike = [(each[f"{TOTAL}_down"], each[f"{TOTAL}_up"]) for each in totals]
        theory = [each | {COMBINED: one} for each, one in zip(theory, unlike, strict=True)]
    for source in RULES:
        if all(source in each for each in theory):
            in_pb = [
                part.median * np.array(each[source])
                for part, each in zip(parts, theory, strict=True)
            ]
            down, up = np.sum(in_pb, axis=0) / median
            sides[source] = (down, up)
    return {name: float(error) for name, error in with_total(sides).items()}


def _theory(part: CrossSection) -> dict[str, Sides]:
    """Return the theory errors of a cross section down and up, by source."""
    named = {source: [f"{source}_{side}" for side in SIDES] for source in RULES}
    return {
        source: (np.array(part.errors[down]), np.array(part.errors[up]))
        for source, (down, up) in named.items()
        if down in part.errors
    }


def reasons_of(parts: Mapping[str, CrossSection]) -> str:
    """Join the domains of the parts that are not inside, and the reasons of all parts."""
    reasons = {
        name: "; ".join(filter(None, ["" if part.domain == INSIDE else part.domain, part.reason]))
        for name, part in parts.items()
    }
    return "; ".join(f"{name}: {reason}" for name, reason in reasons.items() if reason)
