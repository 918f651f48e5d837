"""Specifications of jobs: the settings of a command, and a digest of the code that it uses."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache

from nlobayes.code_digest import code_digest
from nlobayes.settings.values import Frozen
from nlobayes.study import job_builder
from nlobayes.study.datasets import DatasetPreset
from nlobayes.workflow.inputs import Wildcards
from nlobayes.workflow.plan import Plan

Fields = dict[str, Callable[[Wildcards], str]]
"""The parameters `spec` and `code` of a rule."""
OF_DATASET: dict[str, Callable[[DatasetPreset], Frozen]] = {
    "simulate": job_builder.simulate_job,
    "ingest": job_builder.ingest_job,
    "prepare": job_builder.prepare_job,
}


class Specifications:
    """Specifications of the jobs of a plan, each only with the settings that the job uses."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        # Rules request one at a time.
        self._jobs = cache(lambda run: job_builder.run_jobs(plan.runs[run]))

    def fields_of_dataset(self, verb: str) -> Fields:
        """Return the specification of a command for a dataset."""
        build, datasets = OF_DATASET[verb], self._plan.study.datasets
        return _fields(verb, lambda wildcards: build(datasets[wildcards.dataset]))

    def fields_of_rival(self, verb: str) -> Fields:
        """Return the specification of a rival, and the name of its library if that is missing."""
        rivals = self._plan.study.rivals
        fields = _fields(verb, lambda wildcards: job_builder.rival_job(rivals[wildcards.rival]))
        return fields | {"missing": lambda wildcards: rivals[wildcards.rival].missing or ""}

    def fields_of_run(self, verb: str) -> Fields:
        """Return the specification of a command for a run."""
        return _fields(verb, lambda wildcards: self._jobs(wildcards.run)[verb])

    def fields_of_model(self, verb: str) -> Fields:
        """Return the specification of a command for a model; samplers do not change it."""
        models = self._plan.models
        return _fields(verb, lambda wildcards: self._jobs(models[wildcards.model].run_id)[verb])

    def comparison_job(self, wildcards: Wildcards) -> str:
        """Return the specification of `compare` for a grid."""
        return self._plan.compared[wildcards.grid].model_dump_json()

    def fidelity_job(self, wildcards: Wildcards) -> str:
        """Return the specification of `fidelity`: the exact run and its approximations."""
        return self._plan.approximated[wildcards.approximated].model_dump_json()

    def timing_job(self, wildcards: Wildcards) -> str:
        """Return the specification of `speed` for the networks of a grid."""
        return job_builder.speed_job([*self._plan.study.runs(wildcards.grid)]).model_dump_json()


def _fields(verb: str, job: Callable[[Wildcards], Frozen]) -> Fields:
    """Make the parameters of a rule; the digested code depends on the specification."""

    def spec(wildcards: Wildcards) -> str:
        return job(wildcards).model_dump_json()

    def code(wildcards: Wildcards) -> str:
        return code_digest(verb, json.loads(spec(wildcards)))

    return {"spec": spec, "code": code}
