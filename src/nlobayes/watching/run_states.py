"""The progress of runs: stage, chains, draws, acceptance, R-hat and remaining time; in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from nlobayes.artifacts.chains import SegmentDraws
from nlobayes.artifacts.files import read_as, read_json
from nlobayes.diagnostics.convergence import rhat
from nlobayes.diagnostics.run_diagnostics import Diagnostics
from nlobayes.errors import InputError, one_line
from nlobayes.evaluation.run_evaluation import Evaluation
from nlobayes.evaluation.run_in_words import headline
from nlobayes.study.jobs_of_runs import WatchedRun
from nlobayes.study.labels import shortened
from nlobayes.watching.chain_files import (
    Folders,
    Line,
    Reader,
    join_chains,
    read_line,
    read_segments,
)

NOT_BEGUN, DONE = "not begun", "done"
FEWEST = 8
"""Fewest draws per chain for R-hat."""
MINUTE, HOUR, DAY = 60, 3600, 86400


class RunState(NamedTuple):
    """The progress of a run. Unknown values are None, unknown times zero.

    `draws` and `total` count draws of all chains. `left` is in seconds, `updated` is the time of
    the last file or log line. `faults` names unusable files.
    """

    label: str
    stage: str
    chains: int = 0
    draws: int = 0
    total: int | None = None
    acceptance: float | None = None
    rhat: float | None = None
    left: float | None = None
    updated: float = 0.0
    faults: tuple[str, ...] = ()

    @property
    def is_done(self) -> bool:
        """Whether the run has been scored."""
        return self.stage.startswith(DONE)

    @property
    def drawn(self) -> str:
        """The number of draws in words."""
        return f"{self.draws} of {self.total}" if self.total else str(self.draws)

    def in_one_line(self) -> str:
        """Describe the progress in one line: the label, a colon, and the known facts."""
        parts = [
            self.stage,
            f"{self.chains} chains" if self.chains else "",
            f"{self.drawn} draws" if self.draws or self.total else "",
            f"acceptance {self.acceptance:.2f}" if self.acceptance is not None else "",
            *self._agreement_and_time(),
            *self.faults,
        ]
        return f"{self.label}: {', '.join(filter(None, parts))}"

    def in_brief(self) -> str:
        """Describe the progress briefly, without the label."""
        draws = f"{self.drawn} draws" if self.draws else ""
        return ", ".join(filter(None, [self.stage, draws, *self._agreement_and_time()]))

    def _agreement_and_time(self) -> tuple[str, str]:
        agreement = f"R-hat {self.rhat:.3f}" if self.rhat is not None else ""
        return agreement, f"{time_span(self.left)} left" if self.left else ""


def time_span(seconds: float) -> str:
    """Write a time in its largest unit, hours with one digit."""
    if seconds < MINUTE:
        return f"{seconds:.0f} s"
    if seconds < HOUR:
        return f"{seconds / MINUTE:.0f} min"
    return f"{seconds / HOUR:.1f} h" if seconds < DAY else f"{seconds / DAY:.1f} days"


def found_runs(results: Path) -> list[WatchedRun]:
    """List the runs that have chains; their planned length is not known."""
    chains = results / "chains"
    folders = {path.parent.parent for path in chains.rglob("warmup_*.nc")}
    runs = sorted(folder.relative_to(chains).as_posix() for folder in folders)
    return [
        WatchedRun(run=run, model=run.rsplit("/", 2)[0], label=label)
        for run, label in shortened(runs).items()
    ]


def state_of(folders: Folders, run: WatchedRun, read: Reader) -> RunState:
    """Read the progress of a run from its usable files; unusable files are named."""
    if (folders.results / "metrics" / run.run / "evaluation.json").is_file():
        return _finished(folders, run)
    groups = range(len(run.chain_groups) or _count_groups(folders, run))
    warmups = [read_line(folders, run.run, group, "warmup") for group in groups]
    lines = [read_line(folders, run.run, group, "draw") for group in groups]
    if not any(line.files or line.at_work for line in [*warmups, *lines]):
        return _without_chains(folders, run)
    return _sampling(folders, run, warmups, lines, read)


def _sampling(
    folders: Folders, run: WatchedRun, warmups: list[Line], lines: list[Line], read: Reader
) -> RunState:
    contents = [read_segments(line.files, read) for line in lines]
    drawn, faults = [parts for parts, _ in contents], [fault for _, fault in contents if fault]
    sizes = run.chain_groups or tuple(parts[0].function.shape[0] if parts else 1 for parts in drawn)
    made = [sum(part.function.shape[1] for part in parts) for parts in drawn]
    draws = [m + line.running for m, line in zip(made, lines, strict=True)]
    each = run.segments * run.draws_per_segment
    met = _has_met(folders, run)
    accepted = [part.acceptance.mean() for parts in drawn for part in parts if part.acceptance.size]
    agreement, fault = _rhat(drawn)
    times = zip(_due(run, warmups, draws, each), _per_step(warmups, lines), strict=True)
    return RunState(
        label=run.label,
        stage=_stage(folders, run, lines),
        chains=sum(sizes),
        draws=sum(size * count for size, count in zip(sizes, draws, strict=True)),
        total=sum(sizes) * each or None if not met else sum(sizes) * max(made),
        acceptance=float(np.mean(accepted)) if accepted else None,
        rhat=agreement,
        left=None if met or not each else _left([*times], [*warmups, *lines]),
        updated=max(line.updated for line in [*warmups, *lines]),
        faults=tuple(dict.fromkeys(filter(None, [*faults, fault]))),
    )


def _stage(folders: Folders, run: WatchedRun, lines: Sequence[Line]) -> str:
    if (folders.results / "posterior" / f"{run.run}.nc").is_file():
        return "scoring"
    return "drawing" if any(line.files or line.at_work for line in lines) else "warm-up"


def _without_chains(folders: Folders, run: WatchedRun) -> RunState:
    """Describe the progress of a run before its first chain, or of a method without chains."""
    if (folders.results / "posterior" / f"{run.run}.nc").is_file():
        return RunState(run.label, "scoring")
    if any(
        (folders.logs / stage / f"{run.run}.log").is_file() for stage in ("approximate", "sample")
    ):
        return RunState(run.label, "in one job")
    chains = sum(run.chain_groups)
    total = chains * run.segments * run.draws_per_segment or None
    maps = _count_maps(folders, run)
    if maps:
        stage = f"pretraining, {maps} of {run.maps}" if run.maps else "pretraining"
        return RunState(run.label, stage, chains, total=total)
    return RunState(run.label, NOT_BEGUN, chains, total=total)


def _finished(folders: Folders, run: WatchedRun) -> RunState:
    """Describe a run that has scores by its diagnostics."""
    folder = folders.results / "metrics" / run.run
    try:
        found = read_as(
            Diagnostics, folder / "diagnostics.json", "checks", "chains", "draws_per_chain"
        )
        scores = read_as(Evaluation, folder / "evaluation.json", "calibration_checks")
    except InputError as error:
        return RunState(run.label, DONE, faults=(one_line(str(error)),))
    draws = found["chains"] * found["draws_per_chain"]
    return RunState(
        label=run.label,
        stage=f"{DONE}: {headline(found, scores)}",
        chains=found["chains"],
        draws=draws,
        total=draws,
        acceptance=found.get("acceptance_rate"),
        rhat=found.get("rhat_f"),
        left=0.0,
        updated=(folder / "evaluation.json").stat().st_mtime,
    )


def _count_maps(folders: Folders, run: WatchedRun) -> int:
    """Count the MAPs that the run starts at; runs of one model share them, and some need more."""
    folder = folders.results / "pretrain" / run.model
    if not run.maps:
        return len([*folder.glob("*.nc")])
    return sum((folder / f"{chain}.nc").is_file() for chain in range(run.maps))


def _count_groups(folders: Folders, run: WatchedRun) -> int:
    folder = folders.results / "chains" / run.run
    return len([*folder.glob("*/warmup_0.nc")])


def _has_met(folders: Folders, run: WatchedRun) -> bool:
    """Return whether a verdict states that the chains have converged, so that drawing stops."""
    for verdict in (folders.results / "chains" / run.run).glob("verdict_*.json"):
        try:
            if read_json(verdict, "met")["met"]:
                return True
        except InputError:
            continue
    return False


def _rhat(drawn: list[list[SegmentDraws]]) -> tuple[float | None, str | None]:
    """Return R-hat of f from the draws that all chains have so far, or the reason why it fails."""
    function = join_chains(drawn)
    if function is None or function.shape[0] < 2 or function.shape[1] < FEWEST:
        return None, None
    try:
        return float(rhat(function).max()), None
    except InputError as error:
        return None, one_line(str(error))


def _due(run: WatchedRun, warmups: list[Line], draws: list[int], each: int) -> Iterator[int]:
    """Yield the remaining steps of every chain group."""
    for warmup, done in zip(warmups, draws, strict=True):
        to_warm = 0 if done else max(run.warmup_steps - warmup.steps, 0)
        yield to_warm + max(each - done, 0)


def _per_step(warmups: list[Line], lines: list[Line]) -> Iterator[float | None]:
    """Yield the seconds per step of every chain group: of draws, before these of its warm-up."""
    for warmup, line in zip(warmups, lines, strict=True):
        yield warmup.seconds if line.seconds is None else line.seconds


def _left(times: list[tuple[int, float | None]], lines: list[Line]) -> float | None:
    """Estimate the remaining seconds if as many jobs run at once as now.

    At least the time of the slowest chain group, whose jobs run one after the other. None if no job
    is running, or no step was timed.
    """
    at_work = sum(line.at_work for line in lines)
    known = [seconds for _, seconds in times if seconds is not None]
    if not at_work or not known:
        return None
    usual = float(np.mean(known))
    each = [due * (usual if seconds is None else seconds) for due, seconds in times]
    return max(max(each), sum(each) / at_work)
