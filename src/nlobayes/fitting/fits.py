"""Runs from a table to scores in a folder: which of several is tried first, and what is kept."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import NamedTuple, TypeVar

import numpy as np

from nlobayes.artifacts.contents import read_map
from nlobayes.artifacts.files import read_as
from nlobayes.diagnostics.run_diagnostics import Diagnostics
from nlobayes.errors import InputError
from nlobayes.evaluation.run_evaluation import Evaluation
from nlobayes.fitting.one_run import OneRun
from nlobayes.fitting.running import progress_bar
from nlobayes.fitting.studies import Configuration, plan_of
from nlobayes.study.job_builder import watch_job
from nlobayes.study.marginalised import MARGINALISED
from nlobayes.study.run import RunSpec
from nlobayes.watching.chain_files import Folders, cached_reader

KEPT = {"posterior": "assemble", "surrogates": "export", "data": "prepare"}
"""Files of a run that are kept, and stages that write files at these paths."""

NO_DENSITY = "builder.no_density"
"""Code of the error of a MAP whose log density is not finite."""

SAME_MODE = 1.05
"""Largest ratio of the errors of two MAPs in the same mode, if the output layer is integrated
out."""
MODES_COST = 2.0
"""Factor of the error that a run with MAPs in several modes must make good, because its chains may
stay in them."""

WARNING = "warning"
"""First word of a line with a warning, in upper or lower case."""


class MapErrors(NamedTuple):
    """Root mean square errors of MAPs on validation rows, in units of the target's sd.

    `mean` is over the MAPs, and infinite if one has no density. `several_modes` is true if the MAPs
    of a network whose output layer is integrated out differ. Hidden weights that are sampled have
    many equivalent modes, which chains leave, so that different MAPs mean nothing.
    """

    mean: float
    several_modes: bool = False


Attempt = TypeVar("Attempt")
Announce = Callable[[int, Sequence[MapErrors]], None]
"""Gets the number of a run before it is sampled, and the errors of the MAPs of all runs; no errors
if there is one run alone."""


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
    return min(tried, key=lambda one: one[1].diagnostics["rhat_f"] or math.inf)


def warnings_among(lines: Iterable[str]) -> list[str]:
    """Select the warnings from the output of jobs, each once and without the word `warning`."""
    heads = (line.partition(":") for line in dict.fromkeys(lines))
    return [text.strip() for word, _, text in heads if word.casefold() == WARNING]


def order_of(errors: Sequence[MapErrors]) -> list[int]:
    """Return the numbers of runs in the order in which to try them."""
    costs = [one.mean * (MODES_COST if one.several_modes else 1) for one in errors]
    return sorted(range(len(errors)), key=costs.__getitem__)


def errors_of_maps(
    configuration: Configuration, folder: Path, *, workers: int = 1, shown: bool = True
) -> MapErrors:
    """Train the MAPs of the only run of a study below a folder, and return their errors.

    `fit` in the same folder continues with these MAPs; arguments are those of `fit`.

    Raises
    ------
    InputError
        If the study or the table cannot be used.
    """
    rivals, run = plan_of(configuration)
    try:
        with progress_bar(shown) as bar:
            one = OneRun(rivals, run, folder, bar=bar, workers=workers)
            bar.expect(1 + len(one.maps))
            one.make_maps()
    except InputError as error:
        if error.code != NO_DENSITY:
            raise
        return MapErrors(math.inf)
    errors = np.array([read_map(path).validation_rmse[-1] for path in one.maps])
    integrated = run.network.output == MARGINALISED
    differ = bool(errors.max() > SAME_MODE * errors.min())
    return MapErrors(float(errors.mean()), integrated and differ)


def account_of(run: RunSpec, root: Path) -> Callable[[], str]:
    """Return a function that describes the current stage, draws and R-hat of a run below `root`."""
    from nlobayes.watching.run_states import state_of

    (watched,) = watch_job([run], {run.run_id: run.run_id}).runs
    folders, read = Folders.beside(root / "results"), cached_reader()
    return lambda: state_of(folders, watched, read).in_brief()
