"""Input files of jobs, as functions of wildcards that Snakemake calls."""

from __future__ import annotations

from typing import Any

from nlobayes.methods.mcmc import MCMC
from nlobayes.stages.definitions import Place
from nlobayes.study.grids import RunSpec
from nlobayes.study.sources.program import ProgramSource
from nlobayes.workflow.plan import MAPS_OF_PLANE, Paths, Plan, dataset_path, map_paths

Wildcards = Any
"""Snakemake's wildcards, each an attribute."""
SAID = (Place.PREDICTIONS, Place.POSTERIOR, Place.EVALUATION, Place.DIAGNOSTICS)
"""Files of a run that `fidelity` reads."""


class Inputs:
    """The input files of the jobs of a plan."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan

    def _run(self, wildcards: Wildcards) -> RunSpec:
        return self._plan.runs[wildcards.run]

    def _chains(self, wildcards: Wildcards) -> MCMC:
        """Return the method of a run of chains; the rules of chains match no other run."""
        method = self._run(wildcards).mcmc
        assert method is not None, wildcards.run
        return method

    def dataset(self, wildcards: Wildcards) -> str:
        """Return the dataset of a run."""
        return dataset_path(self._run(wildcards))

    def datasets(self, wildcards: Wildcards) -> Paths:
        """List the dataset of each run of a grid."""
        return [dataset_path(run) for run in self._plan.study.runs(wildcards.grid)]

    def points(self, wildcards: Wildcards) -> str:
        """Return the points at which the program of a dataset is called."""
        return f"results/points/{wildcards.dataset}/design.parquet"

    def chunks(self, wildcards: Wildcards) -> Paths:
        """List the chunks of the points of a dataset with their results."""
        source = self._plan.study.datasets[wildcards.dataset].source
        assert isinstance(source, ProgramSource), source.kind
        folder = f"results/points/{wildcards.dataset}"
        return [f"{folder}/{chunk}.parquet" for chunk in range(source.chunks)]

    def dataset_of_rival(self, wildcards: Wildcards) -> str:
        """Return the dataset to which a rival is fitted."""
        return f"results/data/{wildcards.dataset}.nc"

    def rivals(self, wildcards: Wildcards) -> Paths:
        """List the predictions of the rivals of a run; empty if its grids name none."""
        dataset = self._run(wildcards).names["dataset"]
        names = self._plan.rivals_of_runs[wildcards.run]
        return [f"results/rivals/{dataset}/{name}.nc" for name in names]

    def maps(self, wildcards: Wildcards) -> Paths:
        """List the MAPs of a run, each once."""
        run = self._run(wildcards)
        return map_paths(run, sorted({*run.starts}))

    def maps_of_plane(self, wildcards: Wildcards) -> Paths:
        """List the MAPs that span the plane in which the energy is surveyed."""
        return map_paths(self._plan.models[wildcards.model], range(MAPS_OF_PLANE))

    def maps_of_chain_group(self, wildcards: Wildcards) -> Paths:
        """List the MAP of each chain of a chain group, for the first segment of its warm-up."""
        run, first = self._run(wildcards), int(wildcards.segment) == 0
        chains = run.chain_groups[int(wildcards.chain_group)] if first else []
        return map_paths(run, (run.starts[chain] for chain in chains))

    def warmup_before(self, wildcards: Wildcards) -> Paths:
        """List the previous segment of the warm-up; empty for the first."""
        segment = int(wildcards.segment)
        return [f"{folder_of_chain_group(wildcards)}/warmup_{segment - 1}.nc"] if segment else []

    def segment_before(self, wildcards: Wildcards) -> str:
        """Return the previous segment, or the end of the warm-up for the first segment."""
        segment = int(wildcards.segment)
        last_warmup = self._chains(wildcards).warmup.segments - 1
        before = f"segment_{segment - 1}" if segment else f"warmup_{last_warmup}"
        return f"{folder_of_chain_group(wildcards)}/{before}.nc"

    def verdict_before(self, wildcards: Wildcards) -> Paths:
        """List the verdict that a segment waits for; empty for the first, or without `until`."""
        segment, until = int(wildcards.segment), self._chains(wildcards).until
        folder = f"results/chains/{wildcards.run}"
        return [f"{folder}/verdict_{segment - 1}.json"] if segment and until else []

    def warmups(self, wildcards: Wildcards) -> Paths:
        """List the segments of the warm-up of all chain groups of a run, group by group."""
        run = self._run(wildcards)
        return files_per_chain_group(run, "warmup", self._chains(wildcards).warmup.segments)

    def segments(self, wildcards: Wildcards) -> Paths:
        """List the segments of all chain groups of a run, group by group."""
        run = self._run(wildcards)
        return files_per_chain_group(run, "segment", self._chains(wildcards).segments)

    def segments_so_far(self, wildcards: Wildcards) -> Paths:
        """List the segments of all chain groups up to the one that is checked."""
        return files_per_chain_group(self._run(wildcards), "segment", int(wildcards.segment) + 1)

    def posteriors(self, wildcards: Wildcards) -> Paths:
        """List the posteriors of one model by several samplers."""
        return [f"results/posterior/{run}.nc" for run in self._plan.samplers[wildcards.samplers]]

    def held_against(self, wildcards: Wildcards) -> dict[str, Paths]:
        """List the files of `fidelity` by their options: of the exact run, then of the others."""
        job = self._plan.approximated[wildcards.approximated]
        runs = [each.run for each in (job.exact, *job.approximations)]
        return {place.name.lower(): [place.format(run=run) for run in runs] for place in SAID}

    def metrics(self, wildcards: Wildcards) -> Paths:
        """List the scores of all runs of a grid."""
        runs = self._plan.study.runs(wildcards.grid)
        return [path for run in runs for path in metrics_of(run)]


def folder_of_chain_group(wildcards: Wildcards) -> str:
    """Return the folder of a chain group."""
    return f"results/chains/{wildcards.run}/{wildcards.chain_group}"


def files_per_chain_group(run: RunSpec, name: str, count: int) -> Paths:
    """List so many files of each chain group of a run, group by group."""
    return [
        f"results/chains/{run.run_id}/{chain_group}/{name}_{number}.nc"
        for chain_group in range(len(run.chain_groups))
        for number in range(count)
    ]


def metrics_of(run: RunSpec) -> Paths:
    """List the scores of a run."""
    folder = f"results/metrics/{run.run_id}"
    return [f"{folder}/evaluation.json", f"{folder}/diagnostics.json"]
