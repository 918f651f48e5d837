"""The plan of a study: its datasets, models, runs and comparisons by their paths in `results/`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, TypeVar

from nlobayes.errors import InputError
from nlobayes.study.comparison import CompareJob, compare_job
from nlobayes.study.grids import RunSpec
from nlobayes.study.jobs_of_runs import FidelityJob, TimedMethod
from nlobayes.study.labels import labels, model_labels
from nlobayes.study.study import Study, load_study, override, presets_here, reported_renamed_keys
from nlobayes.untyped import Facts
from nlobayes.workflow.figures import Task, task_of

Value = TypeVar("Value")
Paths = list[str]
MAPS_OF_PLANE = 3


class ByPath(dict[str, Value]):
    """Members of a study of one kind, by path; wildcard patterns also match other paths."""

    def __missing__(self, name: str) -> Value:
        """Refuse a path that the study does not have."""
        raise InputError("workflow.no_path_of_study", path=name)


class Round(NamedTuple):
    """One round of a program: its number, the datasets of all rounds, and the run on its points."""

    number: int
    names: tuple[str, ...]
    run: str


@dataclass(frozen=True)
class Plan:
    """A study with its runs, models and comparisons."""

    study: Study

    @cached_property
    def runs(self) -> ByPath[RunSpec]:
        """The runs of all grids."""
        each = (run for grid in self.study.grids for run in self.study.runs(grid))
        return ByPath((run.run_id, run) for run in each)

    @cached_property
    def models(self) -> ByPath[RunSpec]:
        """One run of each model, with any method; a model is a run without its method."""
        return ByPath((run.model_id, run) for run in self.runs.values())

    @cached_property
    def samplers(self) -> ByPath[Paths]:
        """The runs of chains of each grid that differ only in their method."""
        groups: dict[str, Paths] = {}
        for grid in self.study.grids:
            for run in self.study.runs(grid):
                if run.method.approximate:  # an approximation is no independent check
                    continue
                groups.setdefault(f"{grid}/{run.model_id}", []).append(run.run_id)
        return ByPath((name, runs) for name, runs in groups.items() if len(runs) > 1)

    @cached_property
    def rivals_of_runs(self) -> ByPath[Paths]:
        """The names of the rivals of each run, from all grids that contain it."""
        named: dict[str, dict[str, None]] = {}
        for grid_name, grid in self.study.grids.items():
            for run in self.study.runs(grid_name):
                named.setdefault(run.run_id, {}).update(dict.fromkeys(grid.rivals))
        return ByPath((run, [*names]) for run, names in named.items())

    @cached_property
    def approximated(self) -> ByPath[FidelityJob]:
        """The comparisons of approximate with exact runs of the same model and seed, by grid."""
        each = ((grid, fidelity_jobs(self.study.runs(grid))) for grid in self.study.grids)
        return ByPath((f"{grid}/{model}", job) for grid, of in each for model, job in of.items())

    @cached_property
    def approximate_methods(self) -> Paths:
        """The names of the approximate methods, whose draws are no chains."""
        each = self.study.methods.items()
        return [name for name, method in each if method.approximate]

    @cached_property
    def rounds(self) -> ByPath[Round]:
        """The rounds of programs of which points are chosen, by the dataset of each."""
        runs = {run.names["dataset"]: path for path, run in self.runs.items()}
        return ByPath(
            (name, Round(number, names, runs[name]))
            for names in self.study.rounds.values()
            for number, name in enumerate(names)
            if name in runs
        )

    def methods_of(self, stage: str) -> Paths:
        """Return the names of the methods whose posterior a stage writes."""
        each = self.study.methods.items()
        return [name for name, method in each if method.stage == stage]

    @cached_property
    def varying_networks(self) -> Paths:
        """The names of the networks whose size is drawn."""
        return [name for name, network in self.study.networks.items() if network.varies]

    @cached_property
    def compared(self) -> dict[str, CompareJob]:
        """The comparison job of each grid that has several runs with scores."""
        study = self.study
        return {
            name: compare_job(study, name)
            for name, grid in study.grids.items()
            if grid.outputs not in ("speed", "prior")
            and len([*study.runs(name)]) > 1
            and not self.rounds.keys() & {*grid.dataset}
        }

    @cached_property
    def labels(self) -> dict[str, dict[str, str]]:
        """The short labels of runs and models, by wildcard and path."""
        return {"run": labels(self.study), "model": model_labels(self.study)}

    def datasets_made_by(self, stage: str) -> Paths:
        """List the datasets whose table a stage writes."""
        each = self.study.datasets.items()
        return [name for name, dataset in each if dataset.source.made_by == stage]

    def rounds_of(self, grid: str) -> list[tuple[str, ...]]:
        """List the datasets of the rounds of each program of a grid."""
        used = self.study.grids[grid].dataset
        return [names for first, names in self.study.rounds.items() if first in used]

    @property
    def chosen_datasets(self) -> Paths:
        """List the datasets of further rounds, whose points are chosen."""
        return [name for name, one in self.rounds.items() if one.number]

    def datasets_of(self, task: Task) -> Paths:
        """List the datasets of a task."""
        each = self.study.datasets.items()
        return [name for name, dataset in each if task_of(dataset) is task]

    def label_of(self, kind: str, path: str) -> str:
        """Return the short label of a run or model; the path itself for anything else."""
        return self.labels.get(kind, {}).get(path, path)


def load_plan(changes: Facts) -> Plan:
    """Validate the study of a configuration and the jobs that are planned from it.

    Raises InputError if a key, a name or a value is not allowed, or runs of a grid cannot be
    compared.
    """
    with reported_renamed_keys():
        plan = Plan(load_study(override(presets_here(), changes)))
    assert plan.compared is not None  # computed now, as it may raise an error
    return plan


def dataset_path(run: RunSpec) -> str:
    """Return the path of the dataset of a run."""
    return f"results/data/{run.names['dataset']}.nc"


def map_paths(run: RunSpec, starts: Iterable[int]) -> Paths:
    """Return the paths of some MAPs of a run."""
    return [f"results/pretrain/{run.model_id}/{start}.nc" for start in starts]


def fidelity_jobs(runs: Iterable[RunSpec]) -> dict[str, FidelityJob]:
    """Make the jobs of `fidelity`, by the path of the model that the compared runs share.

    Approximations are compared with the run of the first exact method. A model without an exact run
    or without an approximation has no job. Chains that are not exact are in no comparison.
    """
    by_model: dict[str, list[RunSpec]] = {}
    for run in runs:
        by_model.setdefault(run.model_id, []).append(run)
    found = {model: _job(alike) for model, alike in by_model.items()}
    return {model: job for model, job in found.items() if job is not None}


def _job(runs: Iterable[RunSpec]) -> FidelityJob | None:
    held = list(runs)
    exact = [_timed(run) for run in held if run.method.exact]
    others = tuple(_timed(run) for run in held if run.method.approximate)
    if not (exact and others):
        return None
    return FidelityJob(exact=exact[0], approximations=others)


def _timed(run: RunSpec) -> TimedMethod:
    """Return a run with the timings of its jobs from MAPs to draws, as paths below `timings/`."""
    starts, stage = {*run.starts} if run.method.starts_at_maps else (), run.method.stage
    maps = [f"pretrain/{run.model_id}/{start}.tsv" for start in sorted(starts)]
    jobs = [f"{stage}/{run.run_id}.tsv"] if run.mcmc is None else _jobs_of_chains(run)
    return TimedMethod(run=run.run_id, timings=(*maps, *jobs))


def _jobs_of_chains(run: RunSpec) -> list[str]:
    assert run.mcmc is not None
    counts = {"warmup": run.mcmc.warmup.segments, "draw": run.mcmc.segments}
    return [
        f"{verb}/{run.run_id}/{chain_group}/{segment}.tsv"
        for verb, segments in counts.items()
        for chain_group in range(len(run.chain_groups))
        for segment in range(segments)
    ]
