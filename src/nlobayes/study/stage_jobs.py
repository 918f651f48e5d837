"""The specification that the results of each command hold, as the list of stages names it."""

from __future__ import annotations

from pydantic import BaseModel

from nlobayes.stages import GROUPS
from nlobayes.stages.stage import Stage
from nlobayes.study import comparison, jobs, jobs_of_runs

MODELS = vars(jobs) | vars(jobs_of_runs) | vars(comparison)


def _specifications() -> dict[str, type[BaseModel] | None]:
    """Find the model of every command that makes results; a stage may have none."""
    commands = [each for group in GROUPS.values() for each in group.items()]
    return {
        name: MODELS[command.job] if command.job else None
        for name, command in commands
        if command.job or (isinstance(command, Stage) and command.makes_results)
    }


SPECIFICATIONS = _specifications()
"""Specification of each verb; None where its command line suffices."""
