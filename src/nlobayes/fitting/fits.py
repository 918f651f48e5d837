"""One run from its table to its scores in a folder, and the results that are kept."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from nlobayes.artifacts.files import read_json
from nlobayes.errors import InputError
from nlobayes.fitting.jobs import Jobs
from nlobayes.fitting.map_errors import (
    NO_DENSITY,
    MapErrors,
    errors_of_maps,
    order_of,
    without_finished_maps,
)
from nlobayes.fitting.running import run_waves
from nlobayes.fitting.studies import Configuration, plan_of
from nlobayes.fitting.watching import account_of
from nlobayes.study.run import RunSpec

KEPT = ("posterior", "surrogates")
"""Folders of the results from which the file of the run is kept."""

WARNING = "warning"
"""First word of a line with a warning, in upper or lower case."""
Attempt = TypeVar("Attempt")
Announce = Callable[[int, Sequence[MapErrors]], None]
"""Gets the number of a run before it is sampled, and the errors of the MAPs of all runs; no errors
if there is one run alone."""


class Fitted(NamedTuple):
    """A finished run: its scores, and the bytes of its dataset, posterior and surrogate.

    `warnings` has the warnings of its jobs, each once.
    """

    run: RunSpec
    diagnostics: dict[str, Any]
    evaluation: dict[str, Any]
    files: Mapping[str, bytes]
    warnings: list[str]


class Best(NamedTuple):
    """The run that is kept of several, by its number, and the numbers in the order of attempts."""

    number: int
    fitted: Fitted
    order: list[int]


def fit(
    configuration: Configuration, folder: Path, *, workers: int = 1, shown: bool = True
) -> Fitted:
    """Run the only run of a study; its results have the paths of the workflow below the folder.

    Parameters
    ----------
    configuration
        As `studies.configure` writes it; its paths are absolute or relative to the current folder.
    workers
        Number of processes that run chains in parallel; 1 runs everything in this process.
    shown
        Show a bar in a terminal or a notebook.

    Raises
    ------
    InputError
        If the study or the table cannot be used.
    """
    plan, run = plan_of(configuration)
    jobs = Jobs(plan, run, folder)
    account = account_of(run, folder) if workers > 1 and shown else None
    waves = without_finished_maps(jobs.waves())
    lines = run_waves(waves, folder, run.precision, workers=workers, shown=shown, account=account)
    metrics = jobs.path("metrics", "")
    made = {name: jobs.path(name) for name in KEPT} | {"data": jobs.dataset}
    return Fitted(
        run,
        read_json(metrics / "diagnostics.json"),
        read_json(metrics / "evaluation.json"),
        {name: path.read_bytes() for name, path in made.items() if path.is_file()},
        warnings_among(lines),
    )


def fit_best(
    configurations: Sequence[Configuration],
    folder: Path,
    *,
    workers: int = 1,
    shown: bool = True,
    announce: Announce = lambda number, errors: None,
) -> Best:
    """Fit one table by several runs in turn, in the order of the errors of their MAPs.

    Arguments are those of `fit`, and errors those of `fit_in_turn`.
    """
    several = configurations if len(configurations) > 1 else []
    errors = [errors_of_maps(one, folder, workers=workers, shown=shown) for one in several]
    order = order_of(errors) or [0]

    def sample(number: int) -> Fitted:
        announce(number, errors)
        return fit(configurations[number], folder, workers=workers, shown=shown)

    return Best(*fit_in_turn(order, sample), order)


def fit_in_turn(
    attempts: Iterable[Attempt], run: Callable[[Attempt], Fitted]
) -> tuple[Attempt, Fitted]:
    """Run attempts in order until one has converged; return it with its run.

    If none converges, it is the one whose chains agree best: of the smallest R-hat of f. An attempt
    whose MAP has no density is skipped.

    Raises
    ------
    InputError
        If an attempt is refused for another reason, or no attempt has a MAP with a density.
    """
    tried: list[tuple[Attempt, Fitted]] = []
    skipped: InputError | None = None
    for attempt in attempts:
        try:
            tried.append((attempt, run(attempt)))
        except InputError as error:
            if error.code != NO_DENSITY:
                raise
            skipped = error
            continue
        if tried[-1][1].diagnostics["converged"] is not False:
            return tried[-1]
    if skipped and not tried:
        raise skipped
    return min(tried, key=lambda one: one[1].diagnostics["rhat_f_p99"] or math.inf)


def warnings_among(lines: Iterable[str]) -> list[str]:
    """Select the warnings from the output of jobs, each once and without the word `warning`."""
    heads = (line.partition(":") for line in dict.fromkeys(lines))
    return [text.strip() for word, _, text in heads if word.casefold() == WARNING]
