"""Values of convergence held against their limits, in the order in which verdicts list them."""

import operator
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from nlobayes.checks import AGREEMENT, ChainCheck, ConvergenceCheck, failed, is_at_least
from nlobayes.diagnostics.run_diagnostics import Agreement, Diagnostics, SamplerNumbers
from nlobayes.types import Columns

TOLERATED_EXCESS = 2.0
"""An unadjusted kernel fails above this multiple of its target energy variance."""


class Thresholds(NamedTuple):
    """Limits for a converged posterior; the first two hold for every quantity."""

    rhat_max: float
    ess_min: float
    ebfmi_min: float
    max_divergences: int


def check_all(
    worst: Agreement,
    sampler: SamplerNumbers,
    still_chains: int,
    thresholds: Thresholds,
    energy_variance_aim: float | None,
) -> dict[str, ConvergenceCheck]:
    """Check what has a value, in the order in which verdicts list the checks."""
    aim = None if energy_variance_aim is None else TOLERATED_EXCESS * energy_variance_aim
    others: dict[ChainCheck, tuple[float | None, float | None]] = {
        "ebfmi_min": (sampler["ebfmi_min"], thresholds.ebfmi_min),
        "divergences": (sampler["divergences"], thresholds.max_divergences),
        "still_chains": (still_chains, 0),
        "energy_variance": (sampler["energy_variance"], aim),
    }
    return check_agreement(worst, thresholds.rhat_max, thresholds.ess_min) | {
        name: _check(name, value, limit)
        for name, (value, limit) in others.items()
        if value is not None and limit is not None
    }


def check_agreement(
    worst: Agreement, rhat_max: float, ess_min: float
) -> dict[str, ConvergenceCheck]:
    """Check the R-hat and the effective draws of every quantity that has them."""
    return {
        name: _check(name, value, ess_min if is_at_least(name) else rhat_max)
        for name in AGREEMENT
        if (value := worst[name]) is not None
    }


def with_check(
    diagnostics: Diagnostics, name: ChainCheck, value: float, limit: float
) -> Diagnostics:
    """Add a check to the result of `diagnose`; a value that is not finite fails."""
    checks = {**diagnostics["checks"], name: _check(name, value, limit)}
    return {**diagnostics, "converged": not failed(checks), "checks": checks}


def check_table(checks: Mapping[str, ConvergenceCheck]) -> Columns:
    """Tabulate checks, as `diagnose` returns them, with the side on which each value must lie.

    The table holds infinite values, which JSON cannot.
    """
    values = [check["value"] for check in checks.values()]
    return {
        "check": np.array([*checks]),
        "value": np.array([np.inf if value is None else value for value in values], np.float64),
        "threshold": np.array([check["threshold"] for check in checks.values()], np.float64),
        "bound": np.array(["at least" if is_at_least(name) else "at most" for name in checks]),
        "passed": np.array([check["passed"] for check in checks.values()], dtype=bool),
    }


def _check(name: ChainCheck, value: float, limit: float) -> ConvergenceCheck:
    holds = operator.ge if is_at_least(name) else operator.le
    return {
        "value": value if np.isfinite(value) else None,
        "threshold": limit,
        "passed": bool(holds(value, limit)),
    }
