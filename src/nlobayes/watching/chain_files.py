"""The progress of a chain group, from its segments, its logs and the seconds of its jobs."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import numpy as np

from nlobayes.artifacts.chains import SegmentDraws, read_drawn
from nlobayes.artifacts.files import read_timing
from nlobayes.errors import InputError, one_line

PROGRESS = re.compile(r": (\d+) of (\d+)\s*$")
"""The end of a line of progress: steps that a job has made, of all its steps."""

Reader = Callable[[Path], SegmentDraws]


class Folders(NamedTuple):
    """The folders of results, logs and timings."""

    results: Path
    logs: Path
    timings: Path

    @classmethod
    def beside(cls, results: Path) -> Folders:
        """Return the folders of logs and timings beside the results, as in the workflow."""
        return cls(results, results.parent / "logs", results.parent / "timings")


class Line(NamedTuple):
    """The consecutive jobs of one chain group: those of its warm-up, or those that draw.

    `made` are the steps of finished jobs, `running` those that the log of the next job shows, and
    `at_work` is whether this log exists. `seconds` is the time per step, None before the first
    step. `updated` is the time of the last file or log line, zero before the first.
    """

    files: tuple[Path, ...]
    made: int
    running: int
    at_work: bool
    seconds: float | None
    updated: float

    @property
    def steps(self) -> int:
        """Steps of the finished jobs and of the running one."""
        return self.made + self.running


def cached_reader() -> Reader:
    """Return a function that reads segments, each again only if its file has changed."""
    known: dict[Path, tuple[tuple[int, int], SegmentDraws]] = {}

    def read(path: Path) -> SegmentDraws:
        status = path.stat()
        stamp = (status.st_mtime_ns, status.st_size)
        if path not in known or known[path][0] != stamp:
            known[path] = (stamp, read_drawn(path))
        return known[path][1]

    return read


def read_line(folders: Folders, run: str, chain_group: int, stage: str) -> Line:
    """Read the progress of a stage, `warmup` or `draw`, of a chain group."""
    name = "segment" if stage == "draw" else "warmup"
    place = f"{run}/{chain_group}"
    files = tuple(_in_order(folders.results / "chains" / place, name))
    logs = folders.logs / stage / place
    made = [reported_steps(logs / f"{number}.log") for number in range(len(files))]
    log = logs / f"{len(files)}.log"
    last_saved = _time_of(files[-1]) if files else 0.0
    at_work = _time_of(log) > last_saved
    running = reported_steps(log) if at_work else 0
    seconds = [
        read_timing(folders.timings / stage / place / f"{n}.tsv", "s") for n in range(len(files))
    ]
    timed = [(s, steps) for s, steps in zip(seconds, made, strict=True) if s is not None and steps]
    per_step = _per_step(timed)
    if per_step is None and running and files:
        per_step = max(_time_of(log) - last_saved, 0.0) / running
    return Line(files, sum(made), running, at_work, per_step, max(last_saved, _time_of(log)))


def reported_steps(log: Path) -> int:
    """Return the steps in the last line of progress of a log; zero if there is none."""
    with suppress(OSError):
        lines = log.read_text("utf-8", errors="replace").splitlines()
        for line in reversed(lines):
            if progress := PROGRESS.search(line):
                return int(progress[1])
    return 0


def read_segments(files: tuple[Path, ...], read: Reader) -> tuple[list[SegmentDraws], str | None]:
    """Read segments up to the first unusable one, and return the error of that one."""
    drawn: list[SegmentDraws] = []
    for path in files:
        try:
            drawn.append(read(path))
        except (InputError, OSError) as error:
            return drawn, one_line(str(error))
    return drawn, None


def join_chains(chain_groups: list[list[SegmentDraws]]) -> np.ndarray | None:
    """Join the function draws of all chain groups, cut to the shortest; None if one has none."""
    joined = [
        np.concatenate([d.function for d in group], axis=1) for group in chain_groups if group
    ]
    if len(joined) < len(chain_groups) or not joined:
        return None
    shortest = min(group.shape[1] for group in joined)
    return np.concatenate([group[:, :shortest] for group in joined])


def _in_order(folder: Path, name: str) -> Iterator[Path]:
    """List the files of a chain group by number, up to the first that is missing."""
    number = 0
    while (path := folder / f"{name}_{number}.nc").is_file():
        yield path
        number += 1


def _time_of(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def _per_step(timed: list[tuple[float, int]]) -> float | None:
    steps = sum(steps for _, steps in timed)
    return sum(seconds for seconds, _ in timed) / steps if steps else None
