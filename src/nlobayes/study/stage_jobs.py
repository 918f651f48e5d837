"""Model of the specification of each command, by name, from the list of stages."""

from __future__ import annotations

from pydantic import BaseModel

from nlobayes.stages import GROUPS
from nlobayes.stages.stage import Stage
from nlobayes.study import comparison, jobs, jobs_of_runs

MODELS = vars(jobs) | vars(jobs_of_runs) | vars(comparison)


def _specifications() -> dict[str, type[BaseModel] | None]:
    """Return the model of every command with results; None for a stage without one."""
    commands = [each for group in GROUPS.values() for each in group.items()]
    return {
        name: MODELS[command.job] if command.job else None
        for name, command in commands
        if command.job or (isinstance(command, Stage) and command.makes_results)
    }


SPECIFICATIONS = _specifications()
"""Model of the specification of each verb; None if its command line suffices."""
