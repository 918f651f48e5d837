"""Texts of the checks of a run: the label, the side of the limit, and the requirement of each."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from typing import Any, NamedTuple, TypeGuard

APPROXIMATE = "approximate: convergence does not apply"
"""The verdict on draws that are not chains; their `converged` is null."""


class Check(NamedTuple):
    """Texts of a check: a label that fits a table, and a sentence with the requirement.

    `bound` is the side of the limit on which the value must lie; checks of calibration have
    two limits and must lie between them.
    """

    label: str
    sentence: str
    bound: str = "at most"


AGREED = {
    "f": ("f", "the prediction at the worst reference point"),
    "log_density": ("log density", "the log density"),
    "noise": ("noise", "the noise"),
    "hyperparameters": ("scales", "the worst of the learned scales"),
}
"""Quantities of chains whose agreement is checked, in a label and in a sentence."""
AGREEMENT = tuple(f"{measure}_{name}" for measure in ("rhat", "ess") for name in AGREED)
"""Checks of agreement: R-hat and effective draws of every quantity that exists."""
AGREEMENT = tuple(f"{measure}_{name}" for measure in ("rhat", "ess") for name in AGREED)
"""Checks of agreement: R-hat and effective draws of every quantity that exists."""

CONVERGENCE = {
    **{
        f"rhat_{name}": Check(
            f"R-hat of {label}",
            f"How far the chains disagree about {whole}; 1 means that they agree.",
        )
        for name, (label, whole) in AGREED.items()
    },
    "rhat_size": Check(
        "R-hat of the network size",
        "How far the chains disagree about the number of units or of layers; 1 means that they "
        "agree.",
    ),
    **{
        f"ess_{name}": Check(
            f"effective draws of {label}",
            f"How many independent draws are worth as much as all of them for {whole}, in the bulk "
            "or in the tails.",
            "at least",
        )
        for name, (label, whole) in AGREED.items()
    },
    "ebfmi_min": Check(
        "E-BFMI, smallest",
        "How freely the energy moves from draw to draw, in the chain where it does so least.",
        "at least",
    ),
    "divergences": Check(
        "divergent transitions",
        "How many transitions met a curvature that the step size cannot follow.",
    ),
    "energy_variance": Check(
        "energy variance",
        "How large the error of an unadjusted integrator is, per dimension and step.",
    ),
    "still_chains": Check(
        "chains that stand still",
        "How many chains stay at one point for half of their draws or longer.",
    ),
    "pareto_k": Check(
        "Pareto k of the weights",
        "How heavy the tail of the importance weights is; above the limit few draws carry all.",
    ),
    "weights_ess": Check(
        "effective draws of the weights",
        "How many independent draws of the new model the weighted draws are worth.",
        "at least",
    ),
}
"""Checks of a posterior; a run that fails one is not converged."""

CALIBRATION = {
    "chi2_per_point": Check(
        "chi² per point",
        "The mean of the squared errors over the squared predicted sds; 1 is right.",
    ),
    "coverage_68": Check(
        "share inside 68 % intervals",
        "How many of the test points lie inside their central 68 % intervals.",
    ),
    "coverage_95": Check(
        "share inside 95 % intervals",
        "How many of the test points lie inside their central 95 % intervals.",
    ),
    "pit_ecdf": Check(
        "PIT beyond its band",
        "How far the distribution of the places of true values in their predictive distributions "
        "(PIT) leaves the band of a calibrated forecaster; zero or less lies inside.",
    ),
    "ece": Check(
        "expected calibration error",
        "How far the probabilities of classes are from the shares of right answers.",
    ),
}
"""Checks of error bars; a run that fails one is not calibrated."""

TWICE_TOO_WIDE = 0.95 - 0.68
"""Excess of the share inside 68 % intervals if error bars are twice too wide."""
RIGHT_VALUES = {"coverage_68": 0.68, "ece": 0.0}
"""Checks whose limits narrow with the number of held-out rows, and their nominal values."""

OF_TARGET = " of "
"""Joins the name of a check and its target, where there are several targets."""


def label_of(name: str) -> str:
    """Return the label of a check, or its name if it has none.

    A check of one of several targets, `{check} of {target}`, keeps its target.
    """
    check, of, target = name.partition(OF_TARGET)
    known = (CONVERGENCE | CALIBRATION).get(check)
    return (known.label if known else check) + of + target


def sentence_of(name: str) -> str:
    """Return the sentence with the requirement of a check; empty if there is none."""
    known = (CONVERGENCE | CALIBRATION).get(name.partition(OF_TARGET)[0])
    return known.sentence if known else ""


def is_at_least(name: str) -> bool:
    """Return whether a check passes above its limit."""
    known = CONVERGENCE.get(name)
    return known is not None and known.bound == "at least"


def untested(checks: Mapping[str, Mapping[str, Any]]) -> str | None:
    """Explain why the passed checks would also pass error bars that are twice too wide.

    Their limits are those of the chance of test rows and of the rows that set the error bars. With
    fewer than 30 test rows, or 47 of each kind, and the default tolerance such error bars lie
    within the limits.

    Returns
    -------
    A sentence; None if there are enough rows, or a check failed.
    """
    if not all(check["passed"] for check in checks.values()):
        return None
    for name, check in checks.items():
        kind = name.partition(OF_TARGET)[0]
        right, high = RIGHT_VALUES.get(kind), check.get("high")
        if right is None or high is None or high < right + TWICE_TOO_WIDE:
            continue
        low = f"{max(check.get('low') or 0.0, 0.0):.0%} to "
        return (
            f"calibration not tested, for there are too few held-out rows: {label_of(name)} may be "
            f"{low}{min(high, 1.0):.0%}, so error bars that are twice too wide would pass too"
        )
    return None


def show_value(value: float | None) -> str:
    """Write the value of a check; JSON has null for a value that is not finite."""
    if not _exists(value):
        return "not finite"
    return f"{value:,.0f}" if abs(value) >= 1e4 else f"{value:.4g}"


def show_range(low: float | None, high: float | None) -> str:
    """Write the range in which a value must lie; a side without limit is not finite."""
    if _exists(low) and _exists(high):
        return f"{show_value(low)} to {show_value(high)}"
    return f"at least {show_value(low)}" if _exists(low) else f"at most {show_value(high)}"


def show_limit(name: str, check: Mapping[str, Any]) -> str:
    """Write the limits of a stored check: one for convergence, two for calibration."""
    if "threshold" not in check:
        return show_range(check["low"], check["high"])
    limit = check["threshold"]
    return show_range(limit, None) if is_at_least(name) else show_range(None, limit)


def _exists(value: float | None) -> TypeGuard[float]:
    return value is not None and isfinite(value)
