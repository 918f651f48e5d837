"""The rule to stop: "half of the points within a, 95 % within b", at a confidence.

It counts the errors of random validation points, which no posterior chose. Their number within a
limit is binomial, and the bound on the share of all points within it is that of Clopper and Pearson
(1934, Biometrika 26, 404), one-sided. The level 1 - confidence is divided among the looks, so that
all of them together err at most so often (Bonferroni). At each look both statements must hold; if
one is false, the rule errs only where the bound of that one does, so that each has the whole level.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import ceil, exp, inf, isfinite, log
from typing import Protocol, TypedDict

import numpy as np
from scipy.special import betainc, betaincinv

from nlobayes.errors import InputError

SHARES = {"median": 0.5, "p95": 0.95}
"""Share of all points that must lie within each limit."""
MOST_VALIDATION, MOST_POINTS = 100_000, 1e9
"""Beyond these, no number of further points is stated."""
STEP = 1.02
"""Ratio of the numbers of validation points that are tried."""


class Wanted(Protocol):
    """Limits of relative errors: of half of the points, of 95 % of them, and the confidence."""

    @property
    def median(self) -> float:
        """Limit of half of the points."""
        ...

    @property
    def p95(self) -> float:
        """Limit of 95 % of the points."""
        ...

    @property
    def confidence(self) -> float:
        """Of all looks together."""
        ...


class Statement(TypedDict):
    """What is known of one limit."""

    limit: float
    """Relative error that is wanted."""
    share: float
    """Share of all points that must lie within it."""
    error: float | None
    """This quantile of the errors of the validation points; None if such points have none."""
    error_bound: float | None
    """Upper bound of the quantile for all points, at the confidence of a look; None if there are
    too few points for one."""
    within: int
    """Validation points within the limit."""
    share_bound: float
    """Lower bound of the share of all points within the limit, at the confidence of a look."""


class Verdict(TypedDict):
    """Whether the accuracy is reached, and what is missing."""

    met: bool
    """Both bounds reach the shares that are wanted."""
    confidence: float
    """That no look of all says so wrongly."""
    looks: int
    """Number of looks among which the confidence is shared."""
    look_confidence: float
    """Confidence of the bounds of one look."""
    points: int | None
    """Rows that the surrogate learned; None if they are not stated."""
    validation: int
    """Random validation points."""
    median: Statement
    p95: Statement
    least_validation: int
    """Fewest validation points at which the rule can say that the accuracy is reached."""
    further_validation: int | None
    """Further validation points at which it is, if the present shares within the limits stay, to 2
    % of all points; None if a share is too small."""
    further_points: int | None
    """Further rows to learn, by the trend of the errors of all looks: an estimate. None with fewer
    than two looks, and if the errors do not fall."""


def judge(
    errors: np.ndarray,
    wanted: Wanted,
    looks: int = 1,
    points: int | None = None,
    earlier: Sequence[Verdict] = (),
) -> Verdict:
    """Judge the relative errors (point,) of random validation points.

    Parameters
    ----------
    errors
        Their sizes. A point without a prediction has NaN, and lies within no limit.
    wanted
        The accuracy.
    looks
        Number of looks that are planned in all, this one among them.
    points
        Rows that the surrogate learned, for the trend.
    earlier
        Verdicts of earlier looks that state their points.

    Raises
    ------
    InputError
        If there are no validation points, or more looks than planned.
    """
    if not len(errors):
        raise InputError("choosing.no_validation")
    if len(earlier) >= looks:
        raise InputError("choosing.looks", looks=looks, earlier=len(earlier))
    sizes = np.sort(np.nan_to_num(np.abs(errors), nan=inf))
    level = (1 - wanted.confidence) / looks
    stated = {
        name: _state(sizes, getattr(wanted, name), share, level) for name, share in SHARES.items()
    }
    verdict = Verdict(
        met=all(map(_holds, stated.values())),
        confidence=wanted.confidence,
        looks=looks,
        look_confidence=1 - level,
        points=points,
        validation=len(sizes),
        median=stated["median"],
        p95=stated["p95"],
        least_validation=least_validation(wanted.confidence, looks),
        further_validation=_further_validation(stated.values(), len(sizes), level),
        further_points=None,
    )
    if not verdict["met"]:
        verdict["further_points"] = _further_points([*earlier, verdict])
    return verdict


def least_validation(confidence: float, looks: int = 1) -> int:
    """Return the fewest validation points, all within both limits, that meet the accuracy.

    For 95 % of all points the chance of n points within is 0.95^n: 59 at confidence 0.95.
    """
    return ceil(log((1 - confidence) / looks) / log(max(SHARES.values())))


def _state(sizes: np.ndarray, limit: float, share: float, level: float) -> Statement:
    """State what sorted sizes (point,) say of one limit."""
    within, rank = int(np.searchsorted(sizes, limit, "right")), _rank(len(sizes), share, level)
    bound = sizes[rank - 1] if rank <= len(sizes) else inf
    return Statement(
        limit=limit,
        share=share,
        error=_or_none(np.quantile(sizes, share, method="inverted_cdf")),
        error_bound=_or_none(bound),
        within=within,
        share_bound=float(betaincinv(within, len(sizes) - within + 1, level)) if within else 0.0,
    )


def _rank(count: int, share: float, level: float) -> int:
    """Return how many of the smallest errors must be within a limit: `count` + 1 if too few are."""
    enough = _by_chance(np.arange(1, count + 1), count, share) <= level
    return int(enough.argmax()) + 1 if enough.any() else count + 1


def _by_chance(within: np.ndarray, counts: np.ndarray | int, share: float) -> np.ndarray:
    """Return the probability that at least `within` of `counts` points (case,) are, of a share."""
    tail: np.ndarray = betainc(within, counts - within + 1, share)
    return tail


def _holds(stated: Statement) -> bool:
    return stated["error_bound"] is not None and stated["error_bound"] <= stated["limit"]


def _or_none(value: float) -> float | None:
    return float(value) if isfinite(value) else None


def _further_validation(each: Iterable[Statement], count: int, level: float) -> int | None:
    steps = ceil(log(MOST_VALIDATION / count) / log(STEP)) if count < MOST_VALIDATION else 0
    counts = np.unique(np.ceil(count * STEP ** np.arange(max(steps, 1))).astype(int))
    enough = np.ones(len(counts), bool)
    for stated in each:
        within = np.maximum(counts * stated["within"] // count, 1)
        enough &= _by_chance(within, counts, stated["share"]) <= level
    return int(counts[enough.argmax()]) - count if enough.any() else None


def _further_points(looks: Sequence[Verdict]) -> int | None:
    """Return the rows at which the line through log error by log rows reaches every open limit."""
    now = looks[-1]
    missing = []
    for name in SHARES:
        stated: Statement = now[name]  # type: ignore[literal-required]
        if _holds(stated):
            continue
        known = np.array(
            [
                (each["points"], each[name]["error"])  # type: ignore[literal-required]
                for each in looks
                if each["points"] and each[name]["error"]  # type: ignore[literal-required]
            ]
        )
        if now["points"] is None or len(known) == 0 or np.ptp(known[:, 0]) == 0:
            return None
        slope, start = np.polyfit(np.log(known[:, 0]), np.log(known[:, 1]), 1)
        # The bound, not the error, must fall to the limit.
        goal = stated["limit"]
        if stated["error_bound"] and stated["error"]:
            goal *= stated["error"] / stated["error_bound"]
        needed = (log(goal) - start) / slope if slope < 0 else inf
        if needed > log(MOST_POINTS):
            return None
        missing.append(max(0, ceil(exp(needed)) - now["points"]))
    return max(missing)
