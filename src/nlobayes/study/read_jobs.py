"""Specifications of jobs read back: from a command line, a file or an artifact, by their verb."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from nlobayes.errors import InputError
from nlobayes.stages import GROUPS
from nlobayes.stages.definitions import Stage
from nlobayes.study import comparison, jobs, jobs_of_runs
from nlobayes.study.jobs import ModelJob
from nlobayes.study.refusal import refusal
from nlobayes.study.yaml_files import READ_ERRORS, check_json_keys, read_text

Job = TypeVar("Job", bound=BaseModel)


def read_job(kind: type[Job], spec: str | Job) -> Job:
    """Read a job from JSON text, from a file with such text, or from standard input (`-`).

    A program gives the job itself.

    Raises InputError if the text does not specify a job of this kind.
    """
    if isinstance(spec, kind):
        return spec
    assert isinstance(spec, str), type(spec)
    where = f"{kind.__name__} specification"
    if spec == "-":
        text = sys.stdin.read()
    else:
        text = spec if spec.lstrip().startswith("{") else _read(Path(spec))
    try:
        job = kind.model_validate_json(text)
    except ValidationError as error:
        raise refusal(error, where) from None
    check_json_keys(text, where)
    return job


def _read(path: Path) -> str:
    try:
        return read_text(path)
    except READ_ERRORS as error:
        raise InputError("study.no_spec", where="--spec", path=path, reason=str(error)) from None


def stated_model(spec: Any, where: str) -> ModelJob | None:
    """Read the model of a specification, the new one if reweighted; None if it has none.

    Raises InputError if the model is not a known one, or names a file that has changed.
    """
    stated = spec.get("target", spec.get("model")) if isinstance(spec, dict) else None
    if stated is None:
        return None
    try:
        return ModelJob.model_validate(stated)
    except ValidationError as error:
        raise refusal(error, f"{where}: model") from None


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
