"""The verdict on one run as text: the failed checks with their values, and the next steps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from nlobayes.checks import (
    APPROXIMATE,
    CalibrationCheck,
    Outcome,
    failed,
    label_of,
    show_limit,
    show_value,
    untested,
)
from nlobayes.diagnostics.advice import next_steps
from nlobayes.diagnostics.run_diagnostics import Diagnostics
from nlobayes.evaluation.run_evaluation import Evaluation, Rival, Scores
from nlobayes.extras import needed
from nlobayes.metrics.shown import error_of, shown, with_error

FOLLOWING = ("scaled_gaussian", "scaled_student_t", "conformal")
"""Families of noise whose error bars follow a spread that changes."""
THIRDS = ("lower", "middle", "upper")


class FailedRun(NamedTuple):
    """Summary of a run with failed checks: a headline, each failed check, and the next steps."""

    headline: str
    failed: list[str]
    steps: list[str]


def describe_failed(
    diagnostics: Diagnostics, evaluation: Evaluation, *, kept_files: bool = True
) -> FailedRun | None:
    """Describe the failed checks of a run and the next steps; None if no check failed.

    `kept_files` is false for runs without a folder: those of `fit` and of the estimators.
    """
    checks: dict[str, Outcome] = {**diagnostics["checks"], **evaluation["calibration_checks"]}
    names = failed(checks)
    if not names:
        return None
    messages = [_describe(name, checks[name]) for name in names]
    still = diagnostics.get("still_chains_at") or []
    if still:
        messages.append(f"chains that stand still: {', '.join(map(str, still))}")
    steps = next_steps(names, diagnostics, kept_files=kept_files)
    return FailedRun(headline(diagnostics, evaluation), messages, steps)


def headline(diagnostics: Diagnostics, evaluation: Evaluation) -> str:
    """Describe whether chains have converged and error bars are calibrated.

    Error bars that pass on too few held-out rows are not tested.
    """
    converged = "NOT CONVERGED" if failed(diagnostics["checks"]) else "converged"
    converged = APPROXIMATE if diagnostics.get("converged", False) is None else converged
    return f"{converged}, {_calibrated(evaluation['calibration_checks'])}"


def _calibrated(checks: Mapping[str, CalibrationCheck]) -> str:
    if failed(checks):
        return "NOT CALIBRATED"
    return "calibration not tested" if untested(checks) else "calibrated"


def accuracy(test: Scores, unit: str) -> str:
    """Describe the errors of test rows."""
    half, most = (_percent(test, f"relative_error_p{share}") for share in (50, 95))
    errors = f"half within {half}%, 95 % within {most}% of the target; " if half else ""
    return f"{errors}RMSE {shown(test, 'rmse_target', '.3g')}{unit and f' {unit}'}"


def _percent(test: Scores, key: str) -> str:
    """Write a share in percent; empty if it is missing or zero."""
    value, error = test.get(key), error_of(test, key)
    return with_error(100 * value, error and 100 * error, ".3g") if value else ""


def describe_spread(evaluation: Evaluation) -> list[str]:
    """Describe a spread of residuals that changes along the prediction, and error bars that fail.

    Error bars fail if their coverage in a third of the predictions is beyond its limits.
    """
    spread, noise = evaluation["spread"], evaluation["predictive_noise"]["family"]
    lines = []
    if spread["changes"]:
        first, *others = spread["thirds"]
        sizes = " : ".join(["1", *(f"{other / first:.2g}" for other in others)])
        follow = "follow it" if noise in FOLLOWING else "do not follow it"
        lines.append(
            f"the spread of the residuals changes along the prediction, as {sizes} in its lower, "
            f"middle and upper third; the error bars {follow} (noise {noise})"
        )
    for third, check in zip(THIRDS, spread["coverage_68"], strict=False):
        if not check["passed"]:
            lines.append(
                f"68 % error bars cover {check['value']:.0%} in the {third} third of predictions"
            )
    return lines


def describe_rival(evaluation: Evaluation) -> str:
    """Describe the Gaussian process on the same rows, and which of the two predicts better."""
    rivals = evaluation.get("rivals")
    if not rivals:
        return "Gaussian process: not compared, for it needs too long with so many rows"
    (rival,) = rivals.values()
    if "missing" in rival:
        return f"Gaussian process: not compared, {needed(rival['missing'], 'rivals')}"
    errors = accuracy(rival["test"], evaluation["learned"]["unit"])
    difference = rival["lppd_difference"]
    more, error = difference["mean"], difference["standard_error"]
    if error is None:
        return f"Gaussian process on the same rows: {errors}; one test row does not tell more"
    better = {-1: "the network is better", 0: "equal within the error", 1: "the process is better"}
    return (
        f"Gaussian process on the same rows: {errors}; its log score is {abs(more):.2g} +- "
        f"{error:.1g} {'higher' if more > 0 else 'lower'}: {better[_side(rival)]}"
    )


def better_rival(evaluation: Evaluation) -> str | None:
    """Describe a Gaussian process whose log score is higher beyond the error; else None."""
    rivals = evaluation.get("rivals", {})
    return (
        describe_rival(evaluation) if any(_side(rival) > 0 for rival in rivals.values()) else None
    )


def _side(rival: Rival) -> int:
    """Return 1 if the log score of a rival is higher beyond the error, -1 if lower, else 0."""
    if "lppd_difference" not in rival:
        return 0
    low, high = rival["lppd_difference"]["low"], rival["lppd_difference"]["high"]
    return 0 if low is None or high is None else int(low > 0) - int(high < 0)


def _describe(name: str, check: Outcome) -> str:
    return f"{label_of(name)}: {show_value(check['value'])}, must be {show_limit(name, check)}"
