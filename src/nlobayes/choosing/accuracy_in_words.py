"""A verdict on the accuracy in words."""

from __future__ import annotations

from nlobayes.choosing.stopping import Statement, Verdict


def headline(verdict: Verdict) -> str:
    """Say whether the accuracy is reached, at which confidence."""
    shared = f", shared among {verdict['looks']} looks" if verdict["looks"] > 1 else ""
    reached = "accuracy reached" if verdict["met"] else "accuracy not shown to be reached"
    count, confidence = verdict["validation"], verdict["confidence"]
    return f"{reached} (confidence {confidence:g}{shared}; {count} random points)"


def lines_of(verdict: Verdict) -> list[str]:
    """Say what is known of each limit, and what is missing."""
    found = [_line(verdict[name], verdict["validation"]) for name in ("median", "p95")]
    return found if verdict["met"] else [*found, _missing(verdict)]


def _line(stated: Statement, count: int) -> str:
    return (
        f"{stated['within']} of {count} within {stated['limit']:.3g}: at least "
        f"{stated['share_bound']:.1%} of all points, {stated['share']:.0%} are wanted; "
        f"error of {stated['share']:.0%}: {_size(stated['error'])}, "
        f"at most {_size(stated['error_bound'])}"
    )


def _size(error: float | None) -> str:
    return "not known" if error is None else f"{100 * error:.3g}%"


def _missing(verdict: Verdict) -> str:
    count, fewest = verdict["validation"], verdict["least_validation"]
    if count < fewest:
        return f"at least {fewest} random points are needed, {fewest - count} more"
    points, validation = verdict["further_points"], verdict["further_validation"]
    if points:
        return f"about {points} further points are needed, by the trend of the errors"
    if validation:
        return f"about {validation} further random points would show it, if these shares stay"
    return "more points are needed; how many is not known before errors fall over two looks"
