"""Texts of the checks of a run: the label, and the side of the limit of each."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from typing import Literal, NamedTuple, TypedDict, TypeGuard, final, get_args

APPROXIMATE = "approximate: convergence does not apply"
"""The verdict on draws that are not chains; their `converged` is null."""


class Check(NamedTuple):
    """Texts of a check: a label that fits a table, and the side of its limit.

    Checks of calibration have two limits and must lie between them.
    """

    label: str
    bound: str = "at most"


AgreementCheck = Literal[
    "rhat_f",
    "rhat_log_density",
    "rhat_noise",
    "rhat_hyperparameters",
    "ess_f",
    "ess_log_density",
    "ess_noise",
    "ess_hyperparameters",
]
"""Checks of the agreement of chains: R-hat and effective draws of every quantity that exists."""
ChainCheck = Literal[
    AgreementCheck, "ebfmi_min", "divergences", "still_chains", "energy_variance", "rhat_size"
]
"""Checks of chains."""
WeightCheck = Literal["pareto_k", "weights_ess"]
"""Checks of draws that importance weights take to another model."""
CoverageCheck = Literal["coverage_68", "coverage_95"]
"""Checks of the share of rows inside central intervals."""
CalibrationName = Literal["chi2_per_point", CoverageCheck, "pit_ecdf", "ece"]
"""Checks of error bars."""
AGREEMENT: tuple[AgreementCheck, ...] = get_args(AgreementCheck)


@final
class ConvergenceCheck(TypedDict):
    """The outcome of a check of a posterior."""

    value: float | None
    """Null if it is not finite."""
    threshold: float
    """The largest or the smallest value that passes."""
    passed: bool
    """Whether the value is on the right side of the threshold."""


@final
class CalibrationCheck(TypedDict):
    """The outcome of a check of error bars."""

    value: float | None
    """Null if it is not finite."""
    low: float | None
    """The smallest value that passes; null without such a limit."""
    high: float | None
    """The largest value that passes; null without such a limit."""
    passed: bool
    """Whether the value lies between the limits."""


Outcome = ConvergenceCheck | CalibrationCheck


CONVERGENCE: dict[ChainCheck | WeightCheck, Check] = {
    "rhat_f": Check("R-hat of f"),
    "rhat_log_density": Check("R-hat of log density"),
    "rhat_noise": Check("R-hat of noise"),
    "rhat_hyperparameters": Check("R-hat of scales"),
    "rhat_size": Check("R-hat of the network size"),
    "ess_f": Check("effective draws of f", "at least"),
    "ess_log_density": Check("effective draws of log density", "at least"),
    "ess_noise": Check("effective draws of noise", "at least"),
    "ess_hyperparameters": Check("effective draws of scales", "at least"),
    "ebfmi_min": Check("E-BFMI, smallest", "at least"),
    "divergences": Check("divergent transitions"),
    "energy_variance": Check("energy variance"),
    "still_chains": Check("chains that stand still"),
    "pareto_k": Check("Pareto k of the weights"),
    "weights_ess": Check("effective draws of the weights", "at least"),
}
"""Checks of a posterior; a run that fails one is not converged."""

CALIBRATION: dict[CalibrationName, Check] = {
    "chi2_per_point": Check("chi² per point"),
    "coverage_68": Check("share inside 68 % intervals"),
    "coverage_95": Check("share inside 95 % intervals"),
    "pit_ecdf": Check("PIT beyond its band"),
    "ece": Check("expected calibration error"),
}
"""Checks of error bars; a run that fails one is not calibrated."""

_KNOWN = {str(n): check for n, check in (*CONVERGENCE.items(), *CALIBRATION.items())}

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
    known = _KNOWN.get(check)
    return (known.label if known else check) + of + target


def failed(checks: Mapping[str, Outcome]) -> list[str]:
    """Name the checks that failed."""
    return [name for name, check in checks.items() if not check["passed"]]


def is_at_least(name: str) -> bool:
    """Return whether a check passes above its limit."""
    known = _KNOWN.get(name)
    return known is not None and known.bound == "at least"


def untested(checks: Mapping[str, CalibrationCheck]) -> str | None:
    """Explain why the passed checks would also pass error bars that are twice too wide.

    Their limits are those of the chance of test rows and of the rows that set the error bars. With
    fewer than 30 test rows, or 47 of each kind, and the default tolerance such error bars lie
    within the limits.

    Returns a sentence; None if there are enough rows, or a check failed.
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


def show_limit(name: str, check: Outcome) -> str:
    """Write the limits of a stored check: one for convergence, two for calibration."""
    if "threshold" not in check:
        return show_range(check["low"], check["high"])
    limit = check["threshold"]
    return show_range(limit, None) if is_at_least(name) else show_range(None, limit)


def _exists(value: float | None) -> TypeGuard[float]:
    return value is not None and isfinite(value)
