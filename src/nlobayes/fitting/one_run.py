"""One run as a program: its stages in order, with the files that each reads and writes.

Stages exchange files, also within this process: an artifact states the SHA-256 of every file that
it was made from, so its bytes depend on theirs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from rich.progress import Progress

from nlobayes.artifacts.contents import read_dataset
from nlobayes.artifacts.files import read_json, write_json
from nlobayes.artifacts.netcdf import read_attrs
from nlobayes.artifacts.places import project
from nlobayes.artifacts.seals import digests
from nlobayes.fitting.running import Bar, in_workers, one_job
from nlobayes.methods.mcmc import MCMC
from nlobayes.rivals import Rival
from nlobayes.settings.values import Frozen
from nlobayes.stages import PIPELINE, function_of
from nlobayes.study.grids import RunSpec
from nlobayes.study.job_builder import prepare_job, rival_job, run_jobs, simulate_job

IN_WORDS = {
    "simulate": "table",
    "prepare": "dataset",
    "pretrain": "MAP",
    "check_convergence": "convergence",
    "posterior_predictive": "predictions",
}
"""Labels in the bar of stages whose name is no noun."""
Files = dict[str, Any]
"""Paths by the names of options."""
Step = Callable[..., None]
"""A method of `OneRun` that makes what one chain group or one MAP needs."""


class OneRun:
    """A run whose results lie below `root` at the paths of the workflow.

    Attributes
    ----------
    output
        Lines that each stage has printed.
    """

    def __init__(
        self,
        rivals: Mapping[str, Rival],
        run: RunSpec,
        root: Path,
        *,
        bar: Bar | None = None,
        workers: int = 1,
    ) -> None:
        self.output: list[list[str]] = []
        self._rivals, self._run, self._root = rivals, run, root
        self._bar, self._workers = bar or Bar(Progress(disable=True)), workers
        self._jobs = {"prepare": prepare_job(run.dataset), **run_jobs(run)}
        self._dataset: Files = {"dataset": self.path("prepare")}
        self._starts, self._groups = sorted({*run.starts}), range(len(run.chain_groups))

    def path(self, stage: str, output: int = 0, **numbers: Any) -> Path:
        """Return the path of what a stage writes, by default the first of its outputs."""
        run, pattern = self._run, PIPELINE[stage].outputs[output]
        names = {"run": run.run_id, "model": run.model_id, "dataset": run.names["dataset"]}
        return self._root / pattern.format(**names, **numbers)

    @property
    def maps(self) -> list[Path]:
        """Paths of the MAPs that the run starts at."""
        return [self.path("pretrain", chain=start) for start in self._starts]

    def make_maps(self) -> None:
        """Make the dataset and the MAPs."""
        self._make_dataset()
        self._each(OneRun.make_map, self._starts)

    def log_density_at_mode(self) -> float:
        """Return the highest log posterior density of the MAPs, which are made."""
        self.make_maps()
        rows = int((read_dataset(self.path("prepare")).split == 0).sum())
        losses = (min(read_attrs(path)["restart_losses"]) for path in self.maps)
        return -rows * min(losses)

    def make_surrogate(self) -> None:
        """Make everything, from the table to the scores and the surrogate."""
        self._bar.expect(self._count())
        method, dataset = self._run.mcmc, self._dataset
        posterior = self._make_posterior() if method is None else self._make_chains(method)
        diagnostics = self._do("diagnose", posterior=posterior)
        table = self.path("thin", output=1)
        files: Files = {"posterior": posterior, "diagnostics": diagnostics, **dataset}
        of_draws: Files = {"posterior": self._do("thin", **files, table=table), **dataset}
        predictions = self._do("posterior_predictive", **of_draws, start=self.maps)
        rivals = [
            self._do_once("rival", {"rival": name}, rival_job(rival))
            for name, rival in self._rivals.items()
        ]
        evaluation = self._do("evaluate", predictions=predictions, **dataset, rival=rivals)
        self._do("export", **of_draws, diagnostics=diagnostics, evaluation=evaluation)
        self._bar.expect(len(self.output))  # fewer than were expected if chains converged early

    def _count(self) -> int:
        """Count the stages of a run that converges with its last segment."""
        method, run = self._run.mcmc, self._run
        of_every_run = 7 + len(self._rivals) + (run.dataset.source.made_by is not None)
        count = of_every_run + len(self._starts)
        if method is None:
            return count
        checks = method.segments - 1 if method.until else 0
        return count + checks + len(self._groups) * (method.warmup.segments + method.segments)

    def _make_dataset(self) -> None:
        dataset, table = self._run.dataset, self.path("simulate")
        if dataset.source.made_by is not None:
            self._do("simulate", spec=simulate_job(dataset))
        given = dataset.source.given
        self._do("prepare", table=table if given is None else Path(given))

    def make_map(self, start: int) -> None:
        """Make a MAP."""
        self._do_once("pretrain", {"chain": start}, self._jobs["pretrain"], chain=start)

    def _make_posterior(self) -> Path:
        """Make the posterior of a method that needs one job."""
        self.make_maps()
        stage = self._run.method.stage
        start: Files = {} if stage == "sample" else {"start": self.maps}
        return self._do(stage, **self._dataset, **start)

    def _make_chains(self, method: MCMC) -> Path:
        """Draw all segments, of which those after convergence are empty, and join them."""
        if method.chains_per_start > 1:  # several chain groups wait for one MAP
            self.make_maps()
        else:
            self._make_dataset()
        first = 1 if method.until else method.segments
        self._each(OneRun.begin, self._groups)
        for segment in range(first, method.segments):
            if self._has_converged(segment, method):
                for group in self._groups:
                    self.draw(group, range(segment, method.segments))
                break
            self._each(OneRun.draw, self._groups, [segment])
        warmups = self._of_groups("warmup", method.warmup.segments)
        drawn = self._of_groups("draw", method.segments)
        return self._do("assemble", **self._dataset, warmup=warmups, segment=drawn)

    def begin(self, group: int) -> None:
        """Warm up a chain group, and draw what waits for no verdict on all chains."""
        method, chains = self._run.mcmc, self._run.chain_groups[group]
        assert method is not None, self._run.run_id
        starts = [self._run.starts[chain] for chain in chains]
        for start in starts if method.chains_per_start == 1 else ():
            self.make_map(start)
        maps = [self.path("pretrain", chain=start) for start in starts]
        given: Files = {"start": maps, "chain": chains}
        for segment in range(method.warmup.segments):
            given = {"previous": self._do_chains("warmup", group, segment, **given)}
        self.draw(group, range(1 if method.until else method.segments))

    def draw(self, group: int, segments: Iterable[int]) -> None:
        """Draw segments of a chain group."""
        method = self._run.mcmc
        assert method is not None, self._run.run_id
        for segment in segments:
            stage, end = ("draw", segment) if segment else ("warmup", method.warmup.segments)
            given = {"previous": self.path(stage, chain_group=group, segment=end - 1)}
            if segment and method.until:
                given["verdict"] = self.path("check_convergence", segment=segment - 1)
            self._do_chains("draw", group, segment, **given)

    def _has_converged(self, segment: int, method: MCMC) -> bool:
        """Check the chains before a segment; once converged, all later verdicts are the same."""
        drawn = self._of_groups("draw", segment)
        found = self._do("check_convergence", {"segment": segment - 1}, segment=drawn)
        verdict = read_json(found, "met")
        for later in range(segment, method.segments - 1) if verdict["met"] else ():
            write_json(self.path("check_convergence", segment=later), verdict)
        return bool(verdict["met"])

    def _of_groups(self, stage: str, segments: int) -> list[Path]:
        """List so many files of each chain group, group by group."""
        every = ((group, segment) for group in self._groups for segment in range(segments))
        return [self.path(stage, chain_group=group, segment=number) for group, number in every]

    def _do_chains(self, stage: str, group: int, segment: int, **options: Any) -> Path:
        at = {"chain_group": group, "segment": segment}
        log = self._root / f"logs/{stage}/{self._run.run_id}/{group}/{segment}.log"
        return self._do(stage, at, log, **self._dataset, chain_group=group, **options)

    def _do_once(self, stage: str, at: Mapping[str, Any], spec: Frozen, **options: Any) -> Path:
        """Run a stage on the dataset, unless an earlier run below `root` has made its result."""
        out = self.path(stage, **at)
        if out.is_file() and self._is_result_of(read_attrs(out), spec):
            self._finish([[]])
            return out
        return self._do(stage, at, spec=spec, **self._dataset, **options)

    def _is_result_of(self, stated: Mapping[str, Any], spec: Frozen) -> bool:
        with project(self._root):
            dataset = digests(self._dataset.values())
        same_data = dataset.items() <= stated["inputs"].items()
        return same_data and stated["spec"] == spec.model_dump(mode="json")

    def _do(
        self, stage: str, at: Mapping[str, Any] = {}, log: Path | None = None, **options: Any
    ) -> Path:
        """Run a stage, by default with its job of the run, and return the path of its result."""
        out = self.path(stage, **at)
        job = {"spec": self._jobs[stage]} if stage in self._jobs else {}
        self._bar.show(IN_WORDS.get(stage, stage))
        with one_job(self._root, self._run.precision, self._bar.show, log) as lines:
            function_of(stage)(**{**job, **options}, out=out)
        self._finish([lines])
        return out

    def _finish(self, output: list[list[str]]) -> None:
        self.output += output
        self._bar.advance(len(output))

    def _each(self, step: Step, numbers: Sequence[int], *more: Any) -> None:
        """Make a step for each number of a chain group or MAP, in workers if there are several."""
        if self._workers == 1 or len(numbers) == 1:
            for number in numbers:
                step(self, number, *more)
            return
        apart = partial(_step_apart, self._rivals, self._run, self._root, step, more)
        with self._bar.watching():
            in_workers(self._workers, apart, numbers, self._finish)


def _step_apart(
    rivals: Mapping[str, Rival], run: RunSpec, root: Path, step: Step, more: Any, number: int
) -> list[list[str]]:
    """Make a step in a process of its own, and return the output of its stages."""
    one = OneRun(rivals, run, root)
    step(one, number, *more)
    return one.output
