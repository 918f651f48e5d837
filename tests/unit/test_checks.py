"""Checks are read in words: a label and a sentence each, and limits beside values."""

from typing import Any

import pytest

from nlobayes.checks import (
    CALIBRATION,
    CONVERGENCE,
    is_at_least,
    label_of,
    sentence_of,
    show_limit,
    show_value,
)


def test_every_check_has_a_label_of_its_own_that_fits_a_table() -> None:
    known = CONVERGENCE | CALIBRATION
    labels = [label_of(name) for name in known]
    assert len({*labels}) == len(labels)
    assert all(len(label) <= 30 and "_" not in label for label in labels)
    assert all(sentence_of(name).endswith(".") for name in known)


def test_the_check_of_a_target_keeps_its_target() -> None:
    assert label_of("coverage_68 of sigma_pb") == "share inside 68 % intervals of sigma_pb"
    assert sentence_of("coverage_68 of sigma_pb") == sentence_of("coverage_68")


def test_an_unknown_check_keeps_its_name() -> None:
    assert label_of("of_another_version") == "of_another_version"
    assert sentence_of("of_another_version") == ""
    assert not is_at_least("of_another_version")


@pytest.mark.parametrize(
    ("name", "check", "expected"),
    [
        ("rhat_f_p99", {"threshold": 1.05}, "at most 1.05"),
        ("ess_f_bulk_min", {"threshold": 100.0}, "at least 100"),
        ("coverage_68", {"low": 0.632, "high": 0.728}, "0.632 to 0.728"),
        ("pit_ecdf", {"low": None, "high": 0.0}, "at most 0"),
        ("some", {"low": 0.5, "high": None}, "at least 0.5"),
    ],
)
def test_limits_are_read_with_their_side(name: str, check: dict[str, Any], expected: str) -> None:
    assert show_limit(name, check) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [(None, "not finite"), (float("nan"), "not finite"), (1.00123, "1.001"), (31234.5, "31,234")],
)
def test_what_does_not_exist_is_worded(value: float | None, expected: str) -> None:
    assert show_value(value) == expected
