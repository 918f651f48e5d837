"""The verdict on one run as text: the failed checks with their values, and the next steps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from nlobayes.checks import APPROXIMATE, label_of, show_limit, show_value, untested
from nlobayes.diagnostics.advice import next_steps

__all__ = ["FailedRun", "describe_failed", "failed", "headline", "untested"]

Found = Mapping[str, Any]


class FailedRun(NamedTuple):
    """Summary of a run with failed checks: a headline, each failed check, and the next steps."""

    headline: str
    failed: list[str]
    steps: list[str]


def describe_failed(
    diagnostics: Found, evaluation: Found, *, kept_files: bool = True
) -> FailedRun | None:
    """Describe the failed checks of a run and the next steps; None if no check failed.

    `kept_files` is false for runs without a folder: those of `fit` and of the estimators.
    """
    checks = {**diagnostics["checks"], **evaluation["calibration_checks"]}
    names = failed(checks)
    if not names:
        return None
    messages = [_describe(name, checks[name]) for name in names]
    still = diagnostics.get("still_chains_at") or []
    if still:
        messages.append(f"chains that stand still: {', '.join(map(str, still))}")
    steps = next_steps(names, diagnostics, kept_files=kept_files)
    return FailedRun(headline(diagnostics, evaluation), messages, steps)


def headline(diagnostics: Found, evaluation: Found) -> str:
    """Describe whether chains have converged and error bars are calibrated.

    Error bars that pass on too few test rows are not tested.
    """
    converged = "NOT CONVERGED" if failed(diagnostics["checks"]) else "converged"
    converged = APPROXIMATE if diagnostics.get("converged", False) is None else converged
    return f"{converged}, {_calibrated(evaluation['calibration_checks'])}"


def _calibrated(checks: Mapping[str, Mapping[str, Any]]) -> str:
    if failed(checks):
        return "NOT CALIBRATED"
    return "calibration not tested" if untested(checks) else "calibrated"


def failed(checks: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Name the checks that failed."""
    return [name for name, check in checks.items() if not check["passed"]]


def _describe(name: str, check: Mapping[str, Any]) -> str:
    return f"{label_of(name)}: {show_value(check['value'])}, must be {show_limit(name, check)}"
