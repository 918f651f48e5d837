"""Sums of the cross sections of several processes.

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
from collections.abc import Mapping, Sequence

import numpy as np

from nlobayes.data.units import convert
from nlobayes.errors import InputError
from nlobayes.surrogate.cross_section import CrossSection, cross_section, point_of
from nlobayes.surrogate.domain import INSIDE, NEAR_EDGE, OUTSIDE
from nlobayes.surrogate.surrogate import Surrogate
from nlobayes.surrogate.theory import MEDIAN_AND_INTERVAL, REGRESSION, RULES, SIDES, with_total

DRAWS = 20_000
"""Draws of a sum; with these the ends of its 68 % interval err by 1 % of the sd."""
FROM_BAD_TO_GOOD = (OUTSIDE, NEAR_EDGE, INSIDE)


def cross_sections(
    surrogates: Mapping[str, Surrogate], spectrum: Mapping[str, float]
) -> dict[str, CrossSection]:
    """Predict the cross sections of several processes, by name; as `cross_section`."""
    return {name: _of(name, surrogate, spectrum) for name, surrogate in surrogates.items()}


def total(
    surrogates: Mapping[str, Surrogate],
    spectrum: Mapping[str, float],
    seed: int = 0,
    *,
    widening: float = 1.0,
) -> CrossSection:
    """Add the cross sections of surrogates, by the names of their processes, at one spectrum.

    Median and interval are those of the sum, not sums of medians and of ends. A process whose Born
    cross section vanishes adds 0; without a prediction of a part the sum is NaN. The distances from
    the median to the ends of the interval are multiplied by `widening`. The domain is the worst of
    the parts, and `reason` names each part with its reason. A theory error that one part lacks is
    missing in the sum. For one surrogate the result is that of `cross_section`.

    Raises
    ------
    InputError
        As `cross_section`.
    """
    parts = cross_sections(surrogates, spectrum)
    if len(parts) == 1:
        return next(iter(parts.values()))
    domain = min((part.domain for part in parts.values()), key=FROM_BAD_TO_GOOD.index)
    summed = [surrogates[name] for name, part in parts.items() if part.median != 0]
    if any(math.isnan(part.median) for part in parts.values()):
        drawn = np.full(1, math.nan)
    elif not summed:
        return next(iter(parts.values()))._replace(reason=_reasons(parts))
    else:
        drawn = sum_of_draws(summed, spectrum, seed)
    median, *ends = map(float, np.quantile(drawn, MEDIAN_AND_INTERVAL))
    low, high = (median + widening * (end - median) for end in ends)
    errors = _errors([*parts.values()], (median, low, high))
    return CrossSection(median, low, high, domain, _reasons(parts), errors)


def sum_of_draws(
    surrogates: Sequence[Surrogate], spectrum: Mapping[str, float], seed: int = 0
) -> np.ndarray:
    """Draw `DRAWS` values (draw,) of the sum of cross sections, in pb."""
    rngs = np.random.default_rng(seed).spawn(len(surrogates))
    pairs = zip(surrogates, rngs, strict=True)
    drawn = [_draws(surrogate, spectrum, rng) for surrogate, rng in pairs]
    return np.sum(drawn, axis=0)


def errors_at(
    surrogate: Surrogate, points: np.ndarray, observed: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Compare a surrogate with cross sections (point,) at points (point, input), in pb.

    Returns
    -------
    Observed cross section minus the median, and half the width of the 68 % interval, each (point,).
    """
    unit = surrogate.units[surrogate.target]
    quantiles = surrogate.quantiles(points, MEDIAN_AND_INTERVAL)[surrogate.target]
    median, low, high = convert(quantiles, unit, "pb")
    return convert(observed, unit, "pb") - median, (high - low) / 2


def _of(name: str, surrogate: Surrogate, spectrum: Mapping[str, float]) -> CrossSection:
    try:
        return cross_section(surrogate, spectrum)
    except InputError as error:
        raise error.within(name) from None


def _draws(
    surrogate: Surrogate, spectrum: Mapping[str, float], rng: np.random.Generator
) -> np.ndarray:
    """Draw the predictive (draw,) in pb, in random order, equally often from each network."""
    points = np.repeat(point_of(surrogate, spectrum), math.ceil(DRAWS / surrogate.draws), axis=0)
    with np.errstate(all="ignore"):
        drawn = surrogate.sample(points, seed=int(rng.integers(2**63)))
    in_pb = convert(drawn, surrogate.units[surrogate.target], "pb")
    return rng.permutation(in_pb.ravel())[:DRAWS]


def _errors(
    parts: Sequence[CrossSection], quantiles: tuple[float, float, float]
) -> dict[str, float]:
    median, low, high = quantiles
    sides = {REGRESSION: (low / median - 1, high / median - 1)}
    for source in RULES:
        names = [f"{source}_{side}" for side in SIDES]
        if all(name in part.errors for part in parts for name in names):
            down, up = (sum(p.median * p.errors[name] for p in parts) for name in names)
            sides[source] = (down / median, up / median)
    arrays = {source: (np.array(down), np.array(up)) for source, (down, up) in sides.items()}
    return {name: float(error) for name, error in with_total(arrays).items()}


def _reasons(parts: Mapping[str, CrossSection]) -> str:
    """Join the domains of the parts that are not inside, and the reasons of all parts."""
    reasons = {
        name: "; ".join(filter(None, ["" if part.domain == INSIDE else part.domain, part.reason]))
        for name, part in parts.items()
    }
    return "; ".join(f"{name}: {reason}" for name, reason in reasons.items() if reason)
