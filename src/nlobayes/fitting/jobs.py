"""The jobs of one run in the order of the rules, each a command with its options."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

from nlobayes.methods.mcmc import MCMC
from nlobayes.settings.values import Frozen
from nlobayes.study.job_builder import prepare_job, rival_job, run_jobs, simulate_job
from nlobayes.study.run import RunSpec
from nlobayes.workflow.inputs import Inputs, folder_of_chain_group
from nlobayes.workflow.plan import Plan, dataset_path, map_paths

Options = dict[str, Any]
LOGGED = ("warmup", "draw")
"""Commands whose logs state how many steps their chains have made."""


class Job(NamedTuple):
    """A call of a command; options are the arguments of its function.

    Paths are absolute or relative to the current folder.
    """

    command: str
    options: Options


Line = list[Job]
"""Jobs that run one after the other, such as those of one chain group."""
Wave = list[Line]
"""Lines that may run in parallel."""


class Jobs:
    """The jobs of one run of a plan, whose results lie below `root`."""

    def __init__(self, plan: Plan, run: RunSpec, root: Path) -> None:
        self._run, self._root, self._inputs = run, root, Inputs(plan)
        self._rivals = plan.study.rivals
        self._jobs = run_jobs(run)

    def path(self, folder: str, ending: str = ".nc") -> Path:
        """Return the path of the run's file in a folder of the results."""
        return self._root / f"results/{folder}/{self._run.run_id}{ending}"

    @property
    def dataset(self) -> Path:
        """Path of the dataset."""
        return self._root / dataset_path(self._run)

    @property
    def maps(self) -> list[Path]:
        """Paths of the MAPs that the run starts at."""
        return self._below(map_paths(self._run, self._starts))

    def waves_of_maps(self) -> Iterator[Wave]:
        """Yield the jobs of these MAPs, and of their dataset."""
        yield [[*self._of_data()]]
        yield self._of_maps()

    def waves(self) -> Iterator[Wave]:
        """Yield all jobs, wave by wave."""
        yield [[*self._of_data()]]
        posterior = self.path("posterior")
        if self._run.method.stage == "assemble":
            yield from self._of_chains(posterior)
        else:
            yield self._of_maps()
            yield [[self._in_one_job(posterior)]]
        yield [[*self._of_scores()]]

    @property
    def _starts(self) -> list[int]:
        return sorted({*self._run.starts})

    def _of_maps(self) -> Wave:
        return [[self._pretrain(start)] for start in self._starts]

    def _of_data(self) -> Iterator[Job]:
        source = self._run.dataset.source
        table = self._root / f"results/tables/{self._run.names['dataset']}.parquet"
        if source.made_by is not None:
            yield _job("simulate", simulate_job(self._run.dataset), out=table)
        given = table if source.given is None else Path(source.given)
        yield _job("prepare", prepare_job(self._run.dataset), table=given, out=self.dataset)

    def _pretrain(self, start: int) -> Job:
        out = self._below(map_paths(self._run, [start]))[0]
        return self._call("pretrain", dataset=self.dataset, chain=start, out=out)

    def _in_one_job(self, posterior: Path) -> Job:
        if self._run.method.stage == "sample":
            return self._call("sample", dataset=self.dataset, out=posterior)
        start = self._below(self._inputs.maps(self._at()))
        return self._call("approximate", dataset=self.dataset, start=start, out=posterior)

    def _of_chains(self, posterior: Path) -> Iterator[Wave]:
        method, groups = self._run.mcmc, range(len(self._run.chain_groups))
        assert method is not None, self._run.run_id
        if method.chains_per_start > 1:  # several chain groups wait for one MAP
            yield self._of_maps()
        together = 1 if method.until else method.segments
        yield [[*self._begun(group, method), *self._drawn(group, 0, together)] for group in groups]
        for segment in range(together, method.segments):
            yield [[self._check(segment - 1)]]
            yield [[*self._drawn(group, segment, segment + 1)] for group in groups]
        drawn = {
            "warmup": self._below(self._inputs.warmups(self._at())),
            "segment": self._below(self._inputs.segments(self._at())),
        }
        yield [[Job("assemble", {"dataset": self.dataset, **drawn, "out": posterior})]]

    def _begun(self, group: int, method: MCMC) -> Iterator[Job]:
        """Yield the warm-up of a chain group, after its MAPs if no other chain group uses them."""
        if method.chains_per_start == 1:
            yield from map(self._pretrain, self._run.chain_groups[group])
        for segment in range(method.warmup.segments):
            yield self._warmup(group, segment)

    def _drawn(self, group: int, first: int, end: int) -> Iterator[Job]:
        return (self._draw(group, segment) for segment in range(first, end))

    def _warmup(self, group: int, segment: int) -> Job:
        at = self._at(chain_group=group, segment=segment)
        previous = self._below(self._inputs.warmup_before(at))
        start = self._below(self._inputs.maps_of_chain_group(at))
        return self._call(
            "warmup",
            dataset=self.dataset,
            start=start,
            previous=next(iter(previous), None),
            chain_group=group,
            chain=self._run.chain_groups[group] if start else [],
            out=self._root / f"{folder_of_chain_group(at)}/warmup_{segment}.nc",
        )

    def _draw(self, group: int, segment: int) -> Job:
        at = self._at(chain_group=group, segment=segment)
        verdict = self._below(self._inputs.verdict_before(at))
        return self._call(
            "draw",
            dataset=self.dataset,
            previous=self._root / self._inputs.segment_before(at),
            verdict=next(iter(verdict), None),
            chain_group=group,
            out=self._root / f"{folder_of_chain_group(at)}/segment_{segment}.nc",
        )

    def _check(self, segment: int) -> Job:
        at = self._at(segment=segment)
        out = self._root / f"results/chains/{self._run.run_id}/verdict_{segment}.json"
        drawn = self._below(self._inputs.segments_so_far(at))
        return self._call("check_convergence", segment=drawn, out=out)

    def _of_scores(self) -> Iterator[Job]:
        dataset, posterior, thinned = self.dataset, self.path("posterior"), self.path("thinned")
        predictions = self.path("predictions")
        diagnostics = self.path("metrics", "/diagnostics.json")
        evaluation = self.path("metrics", "/evaluation.json")
        yield self._call("diagnose", posterior=posterior, out=diagnostics)
        inputs = {"posterior": posterior, "diagnostics": diagnostics, "dataset": dataset}
        table = self.path("plots", "/thinning.csv")
        yield Job("thin", {**inputs, "out": thinned, "table": table})
        maps = self._below(self._inputs.maps(self._at()))
        of_draws = {"posterior": thinned, "dataset": dataset}
        yield self._call("posterior_predictive", **of_draws, start=maps, out=predictions)
        rivals = self._below(self._inputs.rivals(self._at()))
        for rival in rivals:
            settings = rival_job(self._rivals[rival.stem])
            yield _job("rival", settings, dataset=dataset, out=rival)
        scored = {"predictions": predictions, "dataset": dataset, "rival": rivals}
        yield self._call("evaluate", **scored, out=evaluation)
        scores = {"diagnostics": diagnostics, "evaluation": evaluation}
        yield self._call("export", **of_draws, **scores, out=self.path("surrogates"))

    def _call(self, command: str, **options: Any) -> Job:
        return _job(command, self._jobs[command], **options)

    def _below(self, paths: list[str]) -> list[Path]:
        return [self._root / path for path in paths]

    def _at(self, **numbers: int) -> Any:
        return SimpleNamespace(run=self._run.run_id, model=self._run.model_id, **numbers)


def log_of(job: Job, root: Path) -> Path | None:
    """Return the path of the log of a job of chains, as the rules name it; None for other jobs.

    Below `logs/{command}` the log has the folder and the number that the output of the job has
    below `results/chains`.
    """
    if job.command not in LOGGED:
        return None
    output = Path(job.options["out"]).relative_to(root / "results/chains")
    number = output.stem.rpartition("_")[2]
    return root / "logs" / job.command / output.parent / f"{number}.log"


def _job(command: str, spec: Frozen, **options: Any) -> Job:
    return Job(command, {"spec": spec.model_dump_json(), **options})
