"""Resources of the rules: memory, wall time and GPUs of their jobs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache

from nlobayes.stages import PIPELINE
from nlobayes.stages.job_size import Size
from nlobayes.study.grids import RunSpec
from nlobayes.study.resources import Need, need, rows_of, size_of, size_of_dataset
from nlobayes.untyped import Document
from nlobayes.workflow.inputs import Wildcards
from nlobayes.workflow.plan import Plan

MEMORY_OF_EXECUTORS = {"htcondor_request_mem_mb"}
"""Names of memory in MB of executors that do not read `mem_mb`."""


class Needs:
    """The resources of the jobs of a plan; the first wildcard of a job names its input."""

    def __init__(self, plan: Plan, defaults: Iterable[str] = ()) -> None:
        """Store the plan; memory is also requested by those `defaults` that name memory."""
        self._plan = plan
        self._memory = ["mem_mb", *sorted(MEMORY_OF_EXECUTORS.intersection(defaults))]
        self._rows = cache(self._count_rows)
        self._need = cache(self._estimate)  # once for all jobs with the same input

    def of(self, verb: str) -> Document:
        """Return the resources of a rule: memory in MB, wall time in minutes, number of GPUs."""

        def mem_mb(wildcards: Wildcards, attempt: int) -> int:
            return self._need_of(verb, wildcards, attempt).mem_mb

        def runtime(wildcards: Wildcards, attempt: int) -> int:
            return self._need_of(verb, wildcards, attempt).runtime

        gpus = self._plan.study.execution.gpus_of(verb)
        gpu = {"gpu": gpus} if PIPELINE[verb].on_gpu else {}
        return {**dict.fromkeys(self._memory, mem_mb), "runtime": runtime, **gpu}

    def _need_of(self, verb: str, wildcards: Wildcards, attempt: int) -> Need:
        kind, name = next(iter(wildcards.items()))
        of_first_attempt: Need = self._need(verb, kind, name)
        return of_first_attempt.of_attempt(attempt)

    def _estimate(self, verb: str, kind: str, name: str) -> Need:
        read: dict[str, Callable[[str], list[Size]]] = {
            "dataset": self._sizes_of_dataset,
            "model": lambda path: [self._size(self._plan.models[path])],
            "run": lambda path: [self._size(self._plan.runs[path])],
            "samplers": lambda path: [
                self._size(self._plan.runs[run]) for run in self._plan.samplers[path]
            ],
            "approximated": lambda path: [
                self._size(self._plan.runs[method.run])
                for job in [self._plan.approximated[path]]
                for method in (job.exact, *job.approximations)
            ],
            "grid": lambda path: [],
        }
        return need(verb, *read[kind](name))

    def _sizes_of_dataset(self, name: str) -> list[Size]:
        return [size_of_dataset(self._plan.study.datasets[name], self._rows(name))]

    def _size(self, run: RunSpec) -> Size:
        return size_of(run, self._rows(run.names["dataset"]))

    def _count_rows(self, name: str) -> int:
        return rows_of(self._plan.study.datasets[name])
