"""Checks are read in words: a label and a sentence each, and limits beside values."""

from typing import Any

import numpy as np
import pytest
from scipy import stats

from nlobayes.checks import (
    CALIBRATION,
    CONVERGENCE,
    CalibrationCheck,
    label_of,
    show_limit,
    show_value,
    untested,
)
from nlobayes.evaluation.calibration import calibration_checks


def test_every_check_has_a_label_of_its_own_that_fits_a_table() -> None:
    known = CONVERGENCE | CALIBRATION
    labels = [label_of(name) for name in known]
    assert len({*labels}) == len(labels)
    assert all(len(label) <= 30 and "_" not in label for label in labels)


@pytest.mark.parametrize(
    ("name", "check", "expected"),
    [
        ("rhat_f", {"threshold": 1.05}, "at most 1.05"),
        ("ess_f", {"threshold": 100.0}, "at least 100"),
        ("coverage_68", {"low": 0.632, "high": 0.728}, "0.632 to 0.728"),
        ("pit_ecdf", {"low": None, "high": 0.0}, "at most 0"),
        ("some", {"low": 0.5, "high": None}, "at least 0.5"),
    ],
)
def test_limits_are_read_with_their_side(name: str, check: Any, expected: str) -> None:
    assert show_limit(name, check) == expected


@pytest.mark.parametrize(
    ("rows", "fitted_to", "tested"),
    [
        *[(6, 10**6, False), (23, 10**6, False), (30, 10**6, True), (1000, 10**6, True)],
        *[(46, 46, False), (47, 47, True), (150, 20, False), (1000, 20, True)],
    ],
)
def test_calibration_is_tested_where_too_wide_error_bars_would_fail(
    rows: int, fitted_to: int, tested: bool
) -> None:
    """From 30 rows on, or 47 and as many for the fit: chance and tolerance are below 0.27."""
    z = stats.norm.ppf((np.arange(rows) + 0.5) / rows)
    checks = calibration_checks.check(z, stats.norm.cdf(z), fitted_to=fitted_to)
    of_target = {f"{name} of sigma": each for name, each in checks.items()}
    assert all(each["passed"] for each in checks.values())
    for found in (checks, of_target):
        said = untested(found)
        assert (said is None) == tested
        assert said is None or "too few held-out rows" in said
    wide = calibration_checks.check(z / 2, stats.norm.cdf(z / 2), fitted_to=fitted_to)
    assert rows > 6 or wide["coverage_68"]["passed"]
    assert rows < 1000 or not wide["coverage_68"]["passed"]


def test_classes_are_tested_where_wrong_probabilities_would_fail() -> None:
    check: CalibrationCheck = {"value": 0.1, "low": None, "high": 0.2, "passed": True}
    assert untested({"ece": check}) is None
    said = untested({"ece": {**check, "high": 0.57}})
    assert said is not None
    assert "may be 0% to 57%" in said


@pytest.mark.parametrize(
    ("value", "expected"),
    [(None, "not finite"), (float("nan"), "not finite"), (1.00123, "1.001"), (31234.5, "31,234")],
)
def test_what_does_not_exist_is_worded(value: float | None, expected: str) -> None:
    assert show_value(value) == expected
