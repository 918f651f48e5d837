"""Settings of the planning process."""

from __future__ import annotations

import inspect

import pytest
from snakemake.scheduling.job_scheduler import JobScheduler

from nlobayes.workflow.planning import refused_target


@pytest.mark.parametrize(
    ("message", "error"),
    [
        ("InputFunctionException\n  InputError: s9 is none; a\nTraceback:\n", "s9 is none; a"),
        (
            "MissingRuleException:\nNo rule to produce quick (if you use input functions make ...",
            "quick is no grid and no file of this study; its grids are a, b",
        ),
        ("Building DAG of jobs...", "None"),
    ],
)
def test_a_target_that_the_study_lacks_is_refused_in_one_line(message: str, error: str) -> None:
    assert str(refused_target(message, ["a", "b"])) == error


def test_the_scheduler_wakes_itself_up_for_this_limit_alone() -> None:
    """Its source shows that it checks the attribute, which we set to None, before it wakes up."""
    source = inspect.getsource(JobScheduler)
    assert "if self.job_rate_limiter is not None:" in source
    assert "self._schedule_reevalutation(self.job_rate_limiter.timespan)" in source
