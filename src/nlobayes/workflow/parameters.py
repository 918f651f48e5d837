"""Parameters of the rules: specification and code of a job, options of files, folders."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import Any

from nlobayes.code_digest import code_digest
from nlobayes.settings.values import Frozen
from nlobayes.study import job_builder
from nlobayes.study.datasets import DatasetPreset
from nlobayes.untyped import Document
from nlobayes.workflow.figures import VERDICTS_OF_RUN
from nlobayes.workflow.inputs import Wildcards
from nlobayes.workflow.plan import Paths, Plan

Fields = dict[str, Callable[[Wildcards], str]]
"""The parameters `spec` and `code` of a rule."""
OF_DATASET: dict[str, Callable[[DatasetPreset], Frozen]] = {
    "simulate": job_builder.simulate_job,
    "ingest": job_builder.ingest_job,
    "design": job_builder.design_job,
    "judge": job_builder.judge_job,
    "choose": job_builder.choose_job,
    "run_program": job_builder.run_program_job,
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


Files = Any
"""Snakemake's input or output files of a job: a list with names."""


def repeat_option(option: str, values: Iterable[object]) -> str:
    """Write an option once per value, quoted for the shell."""
    return " ".join(f"{option} {shlex.quote(str(value))}" for value in values)


def option_per_input(option: str, name: str) -> Callable[[Wildcards, Files], str]:
    """Return a function that writes an option once per input file of a name."""

    def spell(wildcards: Wildcards, input: Files) -> str:
        return repeat_option(option, getattr(input, name))

    return spell


def folder_of_inputs(wildcards: Wildcards, input: Files) -> str:
    """Return the folder of the first input file of a job."""
    return Path(input[0]).parent.as_posix()


def folder_of_outputs(wildcards: Wildcards, output: Files) -> str:
    """Return the folder of the first output file of a job."""
    return Path(output[0]).parent.as_posix()


def verdict_options(wildcards: Wildcards, input: Files) -> str:
    """Write the options for the verdicts on convergence and calibration beside the tables."""
    folder = Path(input[0]).parent
    options = VERDICTS_OF_RUN.items()
    return " ".join(repeat_option(option, [folder / f"{table}.csv"]) for option, table in options)


def tables(names: Iterable[str], folder: str = "results/plots/{run}") -> Paths:
    """List tables in a folder."""
    return [f"{folder}/{name}.csv" for name in names]


class Options:
    """Parameters of rules that depend on the plan."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan

    def begin_warmup(self, wildcards: Wildcards, input: Files) -> str:
        """Write the options of a warm-up segment: MAPs and chains, or the previous segment."""
        if input.previous:
            return repeat_option("--previous", input.previous)
        chains = self._plan.runs[wildcards.run].chain_groups[int(wildcards.chain_group)]
        starts = zip(input.starts, chains, strict=True)
        return " ".join(f"--start {shlex.quote(str(s))} --chain {c}" for s, c in starts)

    def to_plot(self, kind: str, names: Iterable[str]) -> Document:
        """Return the parameters of a rule that draws figures of a run, a model or a grid."""
        fields_of_run = {"name": self.name_of_run, "verdict": verdict_options}
        fields_of_others = {"name": f"{kind} {{{kind}}}", "verdict": ""}
        return {
            "tables": folder_of_inputs,
            "folder": folder_of_outputs,
            **(fields_of_run if kind == "run" else fields_of_others),
            "names": repeat_option("--figure", names),
            "code": code_digest("plot", {}),
        }

    def name_of_run(self, wildcards: Wildcards) -> str:
        """Return the line below the figures of a run: the run and its target."""
        target = ", ".join(self._plan.runs[wildcards.run].dataset.target.columns)
        return f"run {wildcards.run}, target {target}"
