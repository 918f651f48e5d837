"""Runs from a table to scores in a folder, and which of several is kept."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import NamedTuple, TypeVar

from nlobayes.artifacts.files import read_as
from nlobayes.diagnostics.run_diagnostics import Diagnostics
from nlobayes.errors import InputError
from nlobayes.evaluation.run_evaluation import Evaluation
from nlobayes.fitting.one_run import OneRun
from nlobayes.fitting.running import progress_bar
from nlobayes.fitting.studies import COSINES, WIDE, Configuration, plan_of
from nlobayes.study.grids import RunSpec
from nlobayes.study.job_builder import watch_job
from nlobayes.watching.chain_files import Folders, cached_reader

KEPT = {"posterior": "assemble", "surrogates": "export", "data": "prepare"}
"""Files of a run that are kept, and stages that write files at these paths."""

FAILED = ("builder.no_density", "inference.never_moved")
"""Codes of errors of a run, not of the table: a MAP without a density, a chain that stood still."""

LEAST_GAIN = 10.0
"""Least gain in the log posterior density at the mode for which recipe `cosines` is taken. With a
noise of 1 % to 30 % of the sd four functions gain at most 9, four measured tables at most 4."""
GAIN = "cosine units change the log posterior density by {gain:+.1f}; {least:+.0f} is needed"

WARNING = "warning"
"""First word of a line with a warning, in upper or lower case."""


Attempt = TypeVar("Attempt")


class Fitted(NamedTuple):
    """A finished run: its scores, and the bytes of its dataset, posterior and surrogate.

    `warnings` has the warnings of its jobs, each once.
    """

    run: RunSpec
    diagnostics: Diagnostics
    evaluation: Evaluation
    files: Mapping[str, bytes]
    warnings: list[str]


class Best(NamedTuple):
    """The run that is kept of several, its number, and that of the first run."""

    number: int
    fitted: Fitted
    first: int = 0


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

    Raises InputError if the study or the table cannot be used.
    """
    rivals, run = plan_of(configuration)
    account = account_of(run, folder) if workers > 1 and shown else None
    with progress_bar(shown, account) as bar:
        one = OneRun(rivals, run, folder, bar=bar, workers=workers)
        one.make_surrogate()
    made = {name: one.path(stage) for name, stage in KEPT.items()}
    return Fitted(
        run,
        read_as(Diagnostics, one.path("diagnose")),
        read_as(Evaluation, one.path("evaluate")),
        {name: path.read_bytes() for name, path in made.items() if path.is_file()},
        warnings_among(chain.from_iterable(one.output)),
    )


def fit_best(
    recipes: Sequence[str],
    configurations: Sequence[Configuration],
    folder: Path,
    *,
    workers: int = 1,
    shown: bool = True,
    announce: Callable[[str, str], None] = lambda recipe, why: None,
) -> Best:
    """Fit one table by the runs of several recipes in turn until one has converged.

    Recipe `cosines` before `wide` is left out unless its log posterior density at the mode is
    higher by `LEAST_GAIN`. Other arguments are those of `fit`, and errors those of `fit_in_turn`;
    `announce` gets the recipe of each run before it is made, and why it is made.
    """
    first, why = 0, ""
    if [*recipes[:2]] == [COSINES, WIDE]:
        cosines, wide = (_log_density(one, folder, workers) for one in configurations[:2])
        first = int(not cosines - wide >= LEAST_GAIN)
        why = GAIN.format(gain=cosines - wide, least=LEAST_GAIN)

    def sample(number: int) -> Fitted:
        failed = f"recipe {recipes[number - 1]} has no chains that converge"
        announce(recipes[number], why if number == first else failed)
        return fit(configurations[number], folder, workers=workers, shown=shown)

    return Best(*fit_in_turn(range(first, len(configurations)), sample), first)


def _log_density(configuration: Configuration, folder: Path, workers: int) -> float:
    """Compute the log posterior density at the best MAP of a run; none is minus infinity."""
    try:
        return OneRun(*plan_of(configuration), folder, workers=workers).log_density_at_mode()
    except InputError as error:
        if error.code not in FAILED:
            raise
        return -math.inf


def fit_in_turn(
    attempts: Iterable[Attempt], run: Callable[[Attempt], Fitted]
) -> tuple[Attempt, Fitted]:
    """Run attempts in order until one has converged; return it with its run.

    If none converges, it is the one whose chains agree best: of the smallest R-hat of f. An attempt
    whose MAP has no density, or whose chains stand still, is skipped.

    Raises InputError if an attempt is refused for another reason, or no attempt has a MAP with a
    density.
    """
    tried: list[tuple[Attempt, Fitted]] = []
    skipped: InputError | None = None
    for attempt in attempts:
        try:
            tried.append((attempt, run(attempt)))
        except InputError as error:
            if error.code not in FAILED:
                raise
            skipped = error
            continue
        if tried[-1][1].diagnostics["converged"] is not False:
            return tried[-1]
    if skipped and not tried:
        raise skipped
    return min(tried, key=lambda one: one[1].diagnostics["rhat_f"] or math.inf)


def warnings_among(lines: Iterable[str]) -> list[str]:
    """Select the warnings from the output of jobs, each once and without the word `warning`."""
    heads = (line.partition(":") for line in dict.fromkeys(lines))
    return [text.strip() for word, _, text in heads if word.casefold() == WARNING]


def account_of(run: RunSpec, root: Path) -> Callable[[], str]:
    """Return a function that describes the current stage, draws and R-hat of a run below `root`."""
    from nlobayes.watching.run_states import state_of

    (watched,) = watch_job([run], {run.run_id: run.run_id}).runs
    folders, read = Folders.beside(root / "results"), cached_reader()
    return lambda: state_of(folders, watched, read).in_brief()
