"""Input files of jobs, as functions of wildcards that Snakemake calls."""

from __future__ import annotations

from typing import Any

from nlobayes.methods.mcmc import MCMC
from nlobayes.stages.definitions import Place
from nlobayes.study.grids import RunSpec
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
        """List the chunks of the points of a dataset with their results, of all rounds so far."""
        return [
            f"results/points/{name}/{chunk}.parquet"
            for name in self._rounds_up_to(wildcards.dataset)
            for chunk in range(self._plan.study.program(name).chunks)
        ]

    def _rounds_up_to(self, dataset: str) -> Paths:
        """List the datasets of the rounds of a program up to one of them."""
        one = self._plan.rounds.get(dataset)
        return [dataset] if one is None else [*one.names[: one.number + 1]]

    def dataset_of_rival(self, wildcards: Wildcards) -> str:
        """Return the dataset to which a rival is fitted."""
        return f"results/data/{wildcards.dataset}.nc"

    def rivals(self, wildcards: Wildcards) -> Paths:
        """List the predictions of the rivals of a run; empty if its grids name none."""
        dataset = self._run(wildcards).names["dataset"]
        names = self._plan.rivals_of_runs[wildcards.run]
        return [f"results/rivals/{dataset}/{name}.nc" for name in names]

    def files_of_round(self, wildcards: Wildcards) -> dict[str, Paths | str]:
        """List what the verdict on a round reads: its run, and the verdict before, if any."""
        one = self._plan.rounds[wildcards.dataset]
        return {
            "predictions": f"results/predictions/{one.run}.nc",
            "dataset": f"results/data/{wildcards.dataset}.nc",
            "surrogate": f"results/surrogates/{one.run}.nc",
            "round": [f"results/rounds/{one.names[k - 1]}.json" for k in [one.number] if k],
        }

    def files_of_choice(self, wildcards: Wildcards) -> dict[str, Paths | str]:
        """List what chooses the points of a round: all points and the surrogate before."""
        *before, _ = self._rounds_up_to(wildcards.dataset)
        return {
            "points": [f"results/points/{name}/design.parquet" for name in before],
            "surrogate": f"results/surrogates/{self._plan.rounds[before[-1]].run}.nc",
        }

    def map_of_round_before(self, wildcards: Wildcards) -> Paths:
        """List the MAP of the same chain in the round before; empty without rounds."""
        name = self._plan.models[wildcards.model].names["dataset"]
        one = self._plan.rounds.get(name)
        if one is None or not one.number:
            return []
        before = self._plan.runs[self._plan.rounds[one.names[one.number - 1]].run]
        return map_paths(before, [int(wildcards.chain)])

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
        """List the verdict on the segments before; empty for the first, or without `until`."""
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
