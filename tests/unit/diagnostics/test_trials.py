"""Summaries of the trials of a call, measured by a simulated clock."""

from __future__ import annotations

import numpy as np
import pytest

from nlobayes.diagnostics.trials import Trials, cores_used, milliseconds, quantiles

SECONDS = np.array([0.004, 0.001, 0.003, 0.010, 0.002])
TRIALS = Trials(SECONDS, 2 * SECONDS)


def test_median_mean_and_least_are_distinguished() -> None:
    found = milliseconds("load", TRIALS)
    expected = {"load_ms": 3.0, "load_ms_mean": 4.0, "load_ms_least": 1.0, "load_ms_cpu": 2.0}
    assert found == pytest.approx(expected)


def test_quantiles_are_those_of_sorted_trials() -> None:
    """A thousand trials of 1, 2, ... 1000 ms."""
    trials = Trials(np.random.default_rng(0).permutation(np.arange(1, 1001)) / 1e3, np.ones(1000))
    expected = {"q2_5": 25.975, "q16": 160.84, "q84": 840.16, "q97_5": 975.025}
    found = quantiles("load", trials)
    assert found == pytest.approx({f"load_ms_{q}": value for q, value in expected.items()})


def test_parts_of_a_call_share_its_time_and_use_the_same_cores() -> None:
    part = TRIALS.per(8)
    np.testing.assert_allclose(part.seconds * 8, SECONDS)
    assert cores_used(part) == pytest.approx(cores_used(TRIALS))
    assert cores_used(TRIALS, part) == pytest.approx(2.0)
