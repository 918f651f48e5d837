"""Settings of the planning process."""

from __future__ import annotations

import inspect
from types import SimpleNamespace

from snakemake.scheduling.job_scheduler import JobScheduler

from nlobayes.workflow.process import start_jobs_at_once


def test_no_limit_of_jobs_a_second_is_left() -> None:
    scheduler = SimpleNamespace(job_rate_limiter="100 jobs a second")
    start_jobs_at_once(scheduler)
    assert scheduler.job_rate_limiter is None


def test_the_scheduler_wakes_itself_up_for_this_limit_alone() -> None:
    """Its source shows that it checks the attribute, which we set to None, before it wakes up."""
    source = inspect.getsource(JobScheduler)
    assert "if self.job_rate_limiter is not None:" in source
    assert "self._schedule_reevalutation(self.job_rate_limiter.timespan)" in source
